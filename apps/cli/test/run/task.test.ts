import type { Agent } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { Permission } from '../../src/config/permission.ts';
import type { Task } from '../../src/run/task.ts';
import { performTask } from '../../src/run/task.ts';
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

/** An agent that never answers, whatever it is told. */
const deaf: Agent = { ...scriptedAgent([]), run: () => new Promise(() => undefined) };

describe('Ctrl-C', () => {
  test('ends the run within a moment, even when the model’s service does not hear [P3]', async () => {
    const io = fakeIo();
    const began = performance.now();
    const done = performTask(taskOf(deaf), io);
    io.interrupt();
    expect((await done).exitCode).toBe(130);
    // How long a moment is, is told by the contract of the executor, whose clock stands still meanwhile.
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(io.stderr.text()).toMatch(/■ cancelled/);
  });

  test('twice ends at once, with the terminal as it was', async () => {
    const keyboard = fakeKeyboard();
    const io = fakeIo({ keyboard });
    const done = performTask(taskOf(deaf, { keyboard }), io);
    keyboard.press({ type: 'interrupt' });
    expect(keyboard.closed).toBe(false);
    expect(() => keyboard.press({ type: 'interrupt' })).toThrow('exit 130');
    expect(keyboard.closed).toBe(true);
    expect(io.all.join('').endsWith('\r\x1b[K')).toBe(true);
    await done;
  });
});

test('the keyboard is given back when the run is over', async () => {
  const keyboard = fakeKeyboard();
  const io = fakeIo({ keyboard });
  const { exitCode } = await performTask(taskOf(scriptedAgent(['hello']), { keyboard }), io);
  expect([exitCode, keyboard.closed]).toEqual([0, true]);
  expect(io.stdout.text()).toContain('hello');
});
