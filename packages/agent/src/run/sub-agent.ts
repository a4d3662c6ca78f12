import type { RunEvent } from '../events/event.ts';
import type { ToolContext } from '../interfaces/tool.ts';
import { AgentError } from '../values/errors.ts';
import type { Run } from './run.ts';

/** Reports what a sub-agent does, one line for each call of a tool. */
export function reportTo({ progress }: ToolContext): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'tool_started') progress(event.toolName);
    if (event.type === 'progress') progress(`${event.toolName}: ${event.text}`);
  };
}

/**
 * Returns the response of a sub-agent: its output, or its text.
 * @throws AgentError the reason why it did not complete, which the model sees.
 */
export async function responseOf(run: Run): Promise<unknown> {
  const result = await run.result;
  if (result.status === 'waiting') {
    const names = [...new Set(result.approvals.map(({ toolName }) => toolName))].join(', ');
    const message = `The agent stopped: a user must decide on its call of ${names}, but no user can be asked during a tool call.`;
    throw new AgentError({ kind: 'tool', code: 'sub_agent_waits', message });
  }
  const { output, text } = result.unwrap();
  return output === undefined ? text : output;
}
