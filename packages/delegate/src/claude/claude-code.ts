import { read, record } from '@cobbler/agent/input';
import type { Backend, DelegatePermission } from '../backend/backend.ts';
import { readPermission } from '../backend/backend.ts';
import { CliBackend } from '../cli/cli-backend.ts';
import type { ProgramOptions } from '../cli/program-options.ts';
import { programReaders } from '../cli/program-options.ts';
import type { ClaudeSettings } from './claude-adapter.ts';
import { claudeAdapter, claudeReaders } from './claude-adapter.ts';

/** Settings of Claude Code. */
export interface ClaudeCodeOptions extends ProgramOptions, ClaudeSettings {
  /** Permissions of the program. Default `read-only`. */
  readonly permission?: DelegatePermission;
}

const readOptions = record<ClaudeCodeOptions>({
  ...programReaders,
  ...claudeReaders,
  permission: readPermission,
});

/**
 * Creates a backend for Claude Code: `claude` on the PATH, in its print mode. A run reports a missing program.
 * @throws AgentError `invalid` for an invalid option.
 */
export function claudeCode(options: ClaudeCodeOptions = {}): Backend {
  const given = read(options, readOptions);
  return new CliBackend(claudeAdapter(given.permission ?? 'read-only', given), given);
}
