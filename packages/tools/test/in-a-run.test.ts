import type { Gate, RunEvent, RunResult } from '@cobbler/agent';
import { Executor, rules, textOf } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workspaceTools } from '../src/index.ts';
import type { Sandbox } from './sandbox.ts';
import { sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox({ 'sum.js': 'export const sum = (a, b) => a - b;\n' });
});

afterEach(() => box.remove());

type Call = readonly [name: string, args: Record<string, unknown>];

interface Ran {
  readonly result: RunResult;
  /** Results of the calls, as the model receives them. */
  readonly answers: readonly string[];
  readonly events: readonly RunEvent[];
}

/** Runs a scripted model that makes these calls, one per turn. */
async function run(calls: readonly Call[], gate?: Gate): Promise<Ran> {
  const script = calls.map(([name, args]) => ({ calls: [{ name, arguments: args }] }));
  const events: RunEvent[] = [];
  const executor = new Executor({
    agent: scriptedAgent([...script, 'done']),
    tools: workspaceTools({ root: box.root, sandbox: 'off', graceMs: 100 }),
    limits: { turns: calls.length + 1 },
    ...(gate !== undefined && { gate }),
  });
  const result = await executor.run('go', { onEvent: (event) => events.push(event) });
  const answers = result.messages
    .filter(({ role }) => role === 'tool_result')
    .map((message) => textOf(message));
  return { result, answers, events };
}

describe('the tools in a run', () => {
  it('complete a small task from reading to testing', async () => {
    const { result, answers, events } = await run([
      ['list_files', {}],
      ['search_files', { pattern: 'a - b' }],
      ['read_file', { path: 'sum.js' }],
      ['edit_file', { path: 'sum.js', old_text: 'a - b', new_text: 'a + b' }],
      [
        'write_file',
        { path: 'test.mjs', content: "import { sum } from './sum.js';\nconsole.log(sum(2, 3));\n" },
      ],
      ['run_command', { command: `'${process.execPath}' test.mjs` }],
    ]);
    expect(result.status).toBe('complete');
    expect(answers[0]).toBe('sum.js');
    expect(answers[1]).toBe('sum.js\n1: export const sum = (a, b) => a - b;\n');
    expect(answers[3]).toBe('Replaced 1 passage in "sum.js" (+1 -1).');
    expect(answers[5]).toMatch(/^\[exit 0\]\n(.*\n)*5\n$/);
    const summaries = events.flatMap((event) => (event.type === 'tool_result' ? [event.summary] : []));
    expect(summaries).toEqual(['1 file', '1 match in 1 file', '1 line', '+1 -1', '+2 -0', 'exit 0']);
  });

  it('refuse invalid arguments before any side effect [P9]', async () => {
    const { answers } = await run([
      ['read_file', {}],
      ['read_file', { path: 'sum.js', offset: 0 }],
      ['write_file', { path: 'sum.js', content: 5 }],
      ['edit_file', { path: 'sum.js', old_text: 'a', new_text: 'b', replace: true }],
      ['run_command', { command: 'touch made', timeout_seconds: 601 }],
      ['run_command', { command: 'touch made', timeout_seconds: 0 }],
    ]);
    for (const answer of answers) expect(answer).toMatch(/^The arguments were rejected: /);
    expect(answers[4]).toContain('timeout_seconds must be at most 600');
    expect(box.read('sum.js')).toBe('export const sum = (a, b) => a - b;\n');
    expect(() => box.read('made')).toThrow();
  });

  it('are checked by rules with the resolved path and the whole command [P21]', async () => {
    box.write('private/key', 'secret');
    const gate = rules({ allow: ['read_file(src/*)', 'run_command(echo *)'], otherwise: 'deny' });
    const { answers } = await run(
      [
        ['read_file', { path: 'src/../private/key' }],
        ['run_command', { command: 'echo ok\ntouch made' }],
        ['run_command', { command: 'echo ok' }],
      ],
      gate,
    );
    expect(answers).toEqual([
      'No permission rule allows read_file.',
      'No permission rule allows run_command.',
      '[exit 0]\nok\n',
    ]);
  });

  it('show the user a change before it is made', async () => {
    const args = { path: 'sum.js', old_text: 'a - b', new_text: 'a + b' };
    const { result, events } = await run([['edit_file', args]], rules({ otherwise: 'ask' }));
    expect(result.status).toBe('waiting');
    expect(events.find((event) => event.type === 'approval_requested')).toMatchObject({
      subject: 'sum.js',
      summary: '+1 -1',
      diff: expect.stringContaining(
        '-export const sum = (a, b) => a - b;\n+export const sum = (a, b) => a + b;\n',
      ),
    });
    expect(box.read('sum.js')).toContain('a - b');
  });
});
