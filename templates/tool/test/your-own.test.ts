import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { yourOwn } from '../src/your-own.ts';

/** Returns the text that the model receives when it calls the tool. */
async function told(args: Record<string, unknown>): Promise<string | undefined> {
  const agent = scriptedAgent([{ calls: [{ name: 'your_own', arguments: args }] }, 'Done.']);
  const { messages } = await new Executor({ agent, tools: [yourOwn()] }).run('Do it.');
  const result = messages.find((message) => message.role === 'tool_result');
  const [part] = result?.content ?? [];
  return part?.type === 'text' ? part.text : undefined;
}

describe('your_own', () => {
  it('acts on its subject', async () => {
    expect(await told({ subject: 'this' })).toBe('the result for the model');
  });

  it('reports invalid arguments to the model without starting', async () => {
    expect(await told({})).toContain('The arguments were rejected');
  });
});
