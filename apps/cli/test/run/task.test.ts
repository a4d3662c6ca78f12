import type { Agent } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { Permission } from '../../src/permissions/permission.ts';
import type { Task } from '../../src/run/task.ts';
import { runTask } from '../../src/run/task.ts';
import { fakeIo, fakeKeyboard } from '../support/fake-io.ts';

function taskOf(agent: Agent, rest: Partial<Task> = {}): Task {
  return {
    agent,
    tools: [],
    system: [],
    prompt: [{ type: 'text', text: 'go' }],
    permission: new Permission('yes', [], false),
    limits: { turns: 5 },
    pricing: () => undefined,
    form: 'people',
    verbose: false,
    header: ['cobbler'],
    folder: '~',
    failure: { host: 'h', model: 'm', provider: 'p' },
    ...rest,
  };
}

/** An agent that never responds, not even to an abort signal. */
const deaf: Agent = { ...scriptedAgent([]), run: () => new Promise(() => undefined) };

describe('Ctrl-C', () => {
  test('ends the run quickly, even if the model’s service does not react [P3]', async () => {
    const io = fakeIo();
    const began = performance.now();
    const done = runTask(taskOf(deaf), io);
    io.interrupt();
    expect((await done).exitCode).toBe(130);
    // The contract suite of the executor checks the exact time with a stopped clock.
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(io.stderr.text()).toMatch(/■ cancelled/);
  });

  test('exits immediately when pressed twice, and restores the terminal', async () => {
    const keyboard = fakeKeyboard();
    const io = fakeIo({ keyboard });
    const done = runTask(taskOf(deaf, { keyboard }), io);
    keyboard.press({ type: 'interrupt' });
    expect(keyboard.closed).toBe(false);
    expect(() => keyboard.press({ type: 'interrupt' })).toThrow('exit 130');
    expect(keyboard.closed).toBe(true);
    expect(io.all.join('').endsWith('\r\x1b[K')).toBe(true);
    await done;
  });
});

test('closes the keyboard when the run ends', async () => {
  const keyboard = fakeKeyboard();
  const io = fakeIo({ keyboard });
  const { exitCode } = await runTask(taskOf(scriptedAgent(['hello']), { keyboard }), io);
  expect([exitCode, keyboard.closed]).toEqual([0, true]);
  expect(io.stdout.text()).toContain('hello');
});
