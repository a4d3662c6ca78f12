import type { Backend, DelegatePermission } from '../backend/backend.ts';
import type { ProgramOptions } from '../cli/cli-backend.ts';
import { CliBackend } from '../cli/cli-backend.ts';
import { appServerAdapter } from './app-server.ts';
import type { CodexSettings } from './codex-adapter.ts';
import { codexExecAdapter } from './codex-adapter.ts';
import { withFallback } from './fallback.ts';

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
