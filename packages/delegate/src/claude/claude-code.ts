import type { Backend, DelegatePermission } from '../backend/backend.ts';
import type { ProgramOptions } from '../cli/cli-backend.ts';
import { CliBackend } from '../cli/cli-backend.ts';
import type { ClaudeSettings } from './claude-adapter.ts';
import { claudeAdapter } from './claude-adapter.ts';

/** Settings of Claude Code. */
export interface ClaudeCodeOptions extends ProgramOptions, ClaudeSettings {
  /** Permissions of the program. Default `read-only`. */
  readonly permission?: DelegatePermission;
}

/**
 * Creates a backend for Claude Code: `claude` on the PATH, in its print mode. Never throws; a run reports what is
 * missing.
 */
export function claudeCode(options: ClaudeCodeOptions = {}): Backend {
  return new CliBackend(claudeAdapter(options.permission ?? 'read-only', options), options);
}
