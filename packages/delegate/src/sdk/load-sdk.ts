import { fileURLToPath } from 'node:url';
import type { Options, Query, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { AgentError } from '@cobbler/agent';

/** The part of the Claude Agent SDK that is used. */
export interface ClaudeSdk {
  readonly query: (given: { prompt: AsyncIterable<SDKUserMessage>; options: Options }) => Query;
}

/** Returns the installed SDK. @throws AgentError `invalid`, code `no_sdk`. */
export async function loadSdk(): Promise<ClaudeSdk> {
  try {
    return await import('@anthropic-ai/claude-agent-sdk');
  } catch (thrown) {
    const cause = AgentError.from(thrown).message;
    const message = `ClaudeCodeAgent needs the package @anthropic-ai/claude-agent-sdk. Install it. (${cause})`;
    throw new AgentError({ kind: 'invalid', code: 'no_sdk', message });
  }
}

/** Returns a file of the SDK, whose program is installed beside it. */
export function sdkFile(): string {
  try {
    return fileURLToPath(import.meta.resolve('@anthropic-ai/claude-agent-sdk'));
  } catch {
    return process.execPath;
  }
}
