import { flag, listOf, oneOf, read, record, text } from '@cobbler/agent/input';
import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  DelegatePermission,
} from '../backend/backend.ts';
import { readContext, readPermission } from '../backend/backend.ts';
import { CliBackend } from '../cli/cli-backend.ts';
import type { ProgramOptions } from '../cli/program-options.ts';
import { programReaders } from '../cli/program-options.ts';
import { appServerAdapter } from './app-server.ts';
import type { CodexSettings } from './codex-adapter.ts';
import { codexExecAdapter, openAiAddress } from './codex-adapter.ts';

/** Settings of Codex. */
export interface CodexOptions extends ProgramOptions, CodexSettings {
  /** Permissions of the program. Default `read-only`. */
  readonly permission?: DelegatePermission;
  /**
   * Protocol to use. `exec` is the simple one. `app-server` streams text, asks before commands and changes with
   * permission `gate`, and accepts messages during a task; Codex calls it experimental. Default: `app-server` with
   * `gate`, otherwise `exec`. A Codex without an app server uses `exec`, except with `gate`.
   */
  readonly via?: 'exec' | 'app-server';
}

const readOptions = record<CodexOptions>({
  ...programReaders,
  model: text,
  baseUrl: text,
  config: listOf(text),
  ownProvider: flag,
  permission: readPermission,
  via: oneOf('exec', 'app-server'),
});

/**
 * Creates a backend for Codex: `codex` on the PATH. A run reports a missing program.
 * @throws AgentError `invalid` for an invalid option.
 */
export function codex(options: CodexOptions = {}): Backend {
  const given = read(options, readOptions);
  const permission = given.permission ?? 'read-only';
  const via = given.via ?? (permission === 'gate' ? 'app-server' : 'exec');
  const settings = withKey(given);
  const exec = new CliBackend(codexExecAdapter(permission, settings), given);
  if (via === 'exec') return exec;
  const server = new CliBackend(appServerAdapter(permission, settings), given);
  // `exec` never asks, so it cannot replace the app server if approval is needed.
  return permission === 'gate' ? server : withFallback(server, exec);
}

/** Adds a provider that reads the key, because Codex uses a key from the environment only if a provider names it. */
function withKey(options: CodexOptions): CodexOptions {
  const env = options.env ?? process.env;
  if (options.baseUrl !== undefined || env['OPENAI_API_KEY'] === undefined) return options;
  return { ...options, baseUrl: env['OPENAI_BASE_URL'] || openAiAddress };
}

/** The exit code of a program that does not support its arguments. */
const usageError = 2;

/**
 * Uses the second backend if the program does not support the protocol of the first. The program has then done
 * nothing, so the task is not executed twice.
 */
function withFallback(first: Backend, second: Backend): Backend {
  const start = (request: BackendRequest, given: BackendContext = {}): BackendProcess => {
    const context = read(given, readContext, 'context');
    let hasStarted = false;
    let isStopped = false;
    const observingContext: BackendContext = {
      ...context,
      onEvent: (event) => {
        hasStarted ||= event.type === 'session';
        context.onEvent?.(event);
      },
    };
    let current = first.start(request, observingContext);
    const other = async (result: BackendResult): Promise<BackendResult> => {
      if (hasStarted || isStopped || result.exitCode !== usageError) return result;
      current = second.start(request, context);
      return current.result;
    };
    return {
      result: current.result.then(other),
      stop: () => {
        isStopped = true;
        current.stop();
      },
      decide: (callId, decision) => current.decide(callId, decision),
      steer: (text) => current.steer(text),
    };
  };
  return {
    name: first.name,
    capabilities: first.capabilities,
    tellsCost: first.tellsCost,
    problem: () => first.problem(),
    run: async (request, context) => start(request, context).result,
    start,
  };
}
