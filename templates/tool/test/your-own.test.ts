import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { yourOwn } from '../src/your-own.ts';

/** What the model is told when it calls the tool. */
async function told(args: Record<string, unknown>): Promise<string | undefined> {
  const agent = scriptedAgent([{ calls: [{ name: 'your_own', arguments: args }] }, 'Done.']);
  const { messages } = await new Executor({ agent, tools: [yourOwn()] }).run('Do it.');
  const result = messages.find((message) => message.role === 'tool_result');
  const [part] = result?.content ?? [];
  return part?.type === 'text' ? part.text : undefined;
}

describe('your_own', () => {
  it('does what it is called for', async () => {
    expect(await told({ subject: 'this' })).toBe('what the model is to know');
  });

  it('tells the model which arguments are wrong, without having begun', async () => {
    expect(await told({})).toContain('The arguments were refused');
  });
});
