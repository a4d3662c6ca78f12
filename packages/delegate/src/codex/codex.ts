import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  DelegatePermission,
} from '../backend/backend.ts';
import type { ProgramOptions } from '../cli/cli-backend.ts';
import { CliBackend } from '../cli/cli-backend.ts';
import { appServerAdapter } from './app-server.ts';
import type { CodexSettings } from './codex-adapter.ts';
import { codexExecAdapter } from './codex-adapter.ts';

/** Settings of Codex. */
export interface CodexOptions extends ProgramOptions, CodexSettings {
  /** Default `read-only`. */
  readonly permission?: DelegatePermission;
  /**
   * `exec` is the simple protocol. `app-server` streams text, asks before commands and changes with permission `gate`,
   * and accepts messages during a task; Codex calls it experimental. Default: `app-server` with `gate`, else `exec`. A
   * Codex without an app server uses `exec`, except with `gate`.
   */
  readonly via?: 'exec' | 'app-server';
}

/** Codex as a backend: `codex` on the PATH. Never throws; a run says what is missing. */
export function codex(options: CodexOptions = {}): Backend {
  const permission = options.permission ?? 'read-only';
  const via = options.via ?? (permission === 'gate' ? 'app-server' : 'exec');
  const settings = withKey(options);
  const exec = new CliBackend(codexExecAdapter(permission, settings), options);
  if (via === 'exec') return exec;
  const server = new CliBackend(appServerAdapter(permission, settings), options);
  // Exec never asks: it cannot replace the app server where approval is needed.
  return permission === 'gate' ? server : withFallback(server, exec);
}

/** Codex takes a key from the environment only for a provider that says where it is. */
function withKey(options: CodexOptions): CodexOptions {
  const env = options.env ?? process.env;
  if (options.baseUrl !== undefined || env['OPENAI_API_KEY'] === undefined) return options;
  return { ...options, baseUrl: env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1' };
}

/** The exit code of a program that does not know what it was asked for. */
const usageError = 2;

/**
 * One way to speak to a program, and another for when the program does not know the first: it then said nothing and
 * did nothing, so that the job is done once.
 */
function withFallback(first: Backend, second: Backend): Backend {
  const start = (request: BackendRequest, context: BackendContext = {}): BackendProcess => {
    let hasBegun = false;
    let isStopped = false;
    const watched: BackendContext = {
      ...context,
      onEvent: (event) => {
        hasBegun ||= event.type === 'session';
        context.onEvent?.(event);
      },
    };
    let current = first.start(request, watched);
    const other = async (result: BackendResult): Promise<BackendResult> => {
      if (hasBegun || isStopped || result.exitCode !== usageError) return result;
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
    run: (request, context) => start(request, context).result,
    start,
  };
}
