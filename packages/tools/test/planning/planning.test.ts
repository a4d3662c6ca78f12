import { memoryStore } from '@cobbler/agent';
import { calls, RunFixture, resultTexts, scriptedModel, textResponse } from '@cobbler/agent/testing';
import { describe, expect, it, vi } from 'vitest';
import { planTool, readTodos, todoLines, todosTool } from '../../src/planning/index.ts';
import { call } from '../sandbox.ts';

describe('update_todos', () => {
  const todos = [
    { text: 'Read the code', status: 'done' },
    { text: 'Fix\n  the test', status: 'active' },
    { text: 'Run it', status: 'open' },
  ];

  it('returns the whole list, one line for each item, which can be read again', async () => {
    const { text, output } = await call(todosTool(), { todos });
    expect(text).toBe('[x] Read the code\n[>] Fix the test\n[ ] Run it');
    expect(output?.summary).toBe('1/3');
    expect(todoLines(readTodos(`The list:\n${text}`)).join('\n')).toBe(text);
    expect(todosTool().subject?.({ todos })).toBe('Fix\n  the test');
  });

  it('rejects an unknown status and a list that is too long, and the model learns why', async () => {
    const stage = new RunFixture(() => memoryStore());
    const wrong = [{ todos: [{ text: 'a', status: 'half' }] }, { todos: Array(51).fill(todos[0]) }];
    const script = wrong.map((args) => calls([{ name: 'update_todos', arguments: args }]));
    const agent = scriptedModel([...script, textResponse('Done.')]);
    const { messages } = await stage.until(stage.run({ agent, tools: [todosTool()] }));
    expect(resultTexts(messages).join('\n')).toMatch(/status[\s\S]*todos/);
  });
});

describe('present_plan', () => {
  it('is always decided by the user, and reports the approval before the model learns it', async () => {
    const onApproved = vi.fn();
    const tool = planTool(onApproved);
    expect(tool.mustAsk?.({ plan: 'a' })).toBe('Do you approve this plan?');
    expect(onApproved).not.toHaveBeenCalled();
    expect(await call(tool, { plan: 'a' })).toMatchObject({ text: expect.stringMatching(/approved/) });
    expect(onApproved.mock.calls).toEqual([[expect.any(String)]]);
  });
});
