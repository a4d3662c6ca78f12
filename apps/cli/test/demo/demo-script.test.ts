import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { readTestRun, scriptedAnswer } from '../../src/demo/script.ts';

const spec = (failed: readonly string[]) =>
  [
    '✔ adds (0.5ms)',
    ...failed.map((name) => `✖ ${name} (1.2ms)`),
    'ℹ tests 4',
    `ℹ pass ${4 - failed.length}`,
    `ℹ fail ${failed.length}`,
    ...(failed.length > 0 ? ['✖ failing tests:', 'test at test/ticket.test.js:17:1'] : []),
    ...failed.map((name) => `✖ ${name} (1.2ms)\n  AssertionError`),
  ].join('\n');

const tap = (failed: readonly string[]) =>
  [
    'TAP version 13',
    'ok 1 - adds',
    ...failed.map(
      (name) => `not ok 2 - ${name}\n  ---\n  location: '/tmp/a b/test/ticket.test.js:17:1'\n  ...`,
    ),
    '# tests 4',
    `# pass ${4 - failed.length}`,
    `# fail ${failed.length}`,
  ].join('\n');

test.each([
  ['spec', spec],
  ['TAP', tap],
])('reads the output of node --test in %s format', (_, write) => {
  expect(readTestRun(write(['a pair of heels']))).toEqual({
    ok: false,
    passed: 3,
    failed: ['a pair of heels'],
    files: ['test/ticket.test.js'],
  });
  expect(readTestRun(write([]))).toEqual({ ok: true, passed: 4, failed: [], files: [] });
});

test('does not read other output as test results', () => {
  expect(readTestRun('sh: 1: node: not found')).toBeUndefined();
});

type Call = readonly [name: string, input: Record<string, unknown>, result: string, isError?: boolean];

/** Returns a request whose history contains the calls and their results, one turn each. */
function request(calls: readonly Call[]): ReadRequest {
  const turns = calls.flatMap(([name, input, text, isError = false], index) => [
    {
      side: 'assistant' as const,
      parts: [{ type: 'call', id: `c${index}`, name, input }] satisfies ReadPart[],
    },
    {
      side: 'user' as const,
      parts: [{ type: 'result', id: `c${index}`, text, isError }] satisfies ReadPart[],
    },
  ]);
  return {
    model: 'claude-scripted',
    system: 's',
    turns: [{ side: 'user', parts: [{ type: 'text', text: 'repair it' }] }, ...turns],
    tools: [],
    toolChoice: 'auto',
  };
}

const said = (calls: readonly Call[]) => {
  const { blocks, stop } = scriptedAnswer(request(calls));
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const named = blocks.flatMap((block) =>
    block.type === 'call' ? [[block.name, JSON.parse(block.input)]] : [],
  );
  return { text, calls: named, stop };
};

const run = (output: string): Call => ['run_command', { command: 'node --test' }, `[exit 0]\n${output}`];
const heels = 'a pair of heels costs twice the price of one';
const source: Call = [
  'read_file',
  { path: 'src/ticket.js' },
  'for (const job of jobs) cents += prices[job.kind];',
];
const edit: Call = ['edit_file', { path: 'src/ticket.js' }, 'Replaced.'];

describe('the scripted model', () => {
  test('lists the files and runs the tests first', () => {
    expect(said([]).calls.map(([name]) => name)).toEqual(['list_files', 'run_command']);
  });

  test('reads the failing test and the code under test', () => {
    expect(said([run(spec([heels]))]).calls).toEqual([
      ['read_file', { path: 'test/ticket.test.js' }],
      ['read_file', { path: 'src/ticket.js' }],
    ]);
  });

  test('fixes the bug that it finds, then runs the tests again', () => {
    const [name, input] = said([run(spec([heels])), source]).calls[0] ?? [];
    expect([name, input.path]).toEqual(['edit_file', 'src/ticket.js']);
    expect(said([run(spec([heels])), source, edit]).calls).toEqual([
      ['run_command', { command: 'node --test' }],
    ]);
    const end = said([run(spec([heels])), source, edit, run(spec([]))]);
    expect(end.stop).toBe('complete');
    expect(end.text).toContain('**Done.** All 4 tests pass.');
    expect(end.text).toContain('3 of 4 passed before, 4 of 4 pass now');
  });

  test('reports that there is nothing to fix if all tests pass', () => {
    const end = said([run(tap([]))]);
    expect(end).toMatchObject({ stop: 'complete', calls: [] });
    expect(end.text).toContain('**Nothing to fix.** All 4 tests already pass');
  });

  test('reports a second bug that remains', () => {
    const end = said([run(tap([heels, 'cents'])), source, edit, run(tap(['cents']))]);
    expect(end.stop).toBe('complete');
    expect(end.text).toContain(`**Partly fixed.** Now passing: \`${heels}\`. Still failing: \`cents\`.`);
  });

  test('reports that it did not fix an unknown bug', () => {
    const end = said([run(spec(['cents'])), ['read_file', { path: 'src/ticket.js' }, 'other text']]);
    expect(end).toMatchObject({ stop: 'complete', calls: [] });
    expect(end.text).toContain('**Not fixed.**');
  });

  test('ends with the reason if an edit is denied or a command fails', () => {
    const denied: Call = ['edit_file', {}, 'A person denied this call.', true];
    expect(said([run(spec([heels])), source, denied]).text).toContain('A person denied this call.');
    expect(said([['run_command', {}, 'sh: 1: node: not found']]).text).toContain('> sh: 1: node: not found');
  });

  test('counts more tokens as the conversation grows, and earlier input as cached', () => {
    const first = scriptedAnswer(request([])).usage;
    const second = scriptedAnswer(request([run(spec([heels]))])).usage;
    expect(first.cacheReadTokens).toBe(0);
    expect(second.inputTokens).toBeGreaterThan(first.inputTokens);
    expect(second.cacheReadTokens).toBeGreaterThan(0);
    expect((second.cacheReadTokens ?? 0) + (second.cacheWriteTokens ?? 0)).toBe(second.inputTokens);
  });
});

test('the scripted model starts again, with new call ids, after another user message', () => {
  const before = request([['run_command', { command: 'node --test' }, spec(['a pair of heels'])]]);
  const more: ReadRequest['turns'] = [
    { side: 'assistant', parts: [{ type: 'text', text: 'I could not.' }] },
    { side: 'user', parts: [{ type: 'text', text: 'try again' }] },
  ];
  const { blocks, stop } = scriptedAnswer({ ...before, turns: [...before.turns, ...more] });
  expect(stop).toBe('tool_use');
  expect(blocks.map((block) => (block.type === 'call' ? [block.id, block.name] : block.type))).toEqual([
    'text',
    ['toolu_demo_2', 'list_files'],
    ['toolu_demo_3', 'run_command'],
  ]);
});
