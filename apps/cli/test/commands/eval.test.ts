import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Mind, Stage } from '../support/agent-stage.ts';
import { stage } from '../support/agent-stage.ts';
import { cobbler } from '../support/in-process.ts';
import { put } from '../support/put.ts';

interface EvalStage extends Stage {
  run(...args: string[]): ReturnType<typeof cobbler>;
}

async function helper(mind: Mind, files: Readonly<Record<string, string>>): Promise<EvalStage> {
  const place = await stage(mind);
  put(join(place.folder, 'helper'), {
    'instructions.md': '---\ntools: [read_file, write_file]\n---\nHelp.',
    'tools/send.ts': "export default { description: 'Sends.', execute: () => 'sent' };",
    ...files,
  });
  const env = { ...place.env, COBBLER_SANDBOX: 'off' };
  return { ...place, run: (...args) => cobbler(['eval', ...args], { env, cwd: place.folder }) };
}

/** Uses the tool that the task names, and then repeats the result. */
const obeys: Mind = ({ task, results }) => {
  const [, name = '', json = '{}'] = /^use (\w+) (.*)$/.exec(task) ?? [];
  if (results.length > 0) return `Result: ${results[0]}`;
  return name === '' ? `You said ${task}` : [[name, JSON.parse(json)]];
};

const lines = (...cases: readonly object[]) => cases.map((one) => JSON.stringify(one)).join('\n');

test('each case passes or fails in one line, and a failed one makes the exit code 1', async () => {
  const { run } = await helper(obeys, {
    'evals/words.jsonl': lines(
      { prompt: 'Hello', contains: ['you SAID', 'hello'], matches: '^You', notCalls: 'send' },
      { prompt: 'Bye', contains: 'hello', matches: ['Bye$', '^bye'] },
      { prompt: 'use send {}', notCalls: ['send'], calls: ['read_file', 'send'] },
    ),
    'evals/other.jsonl': lines({ prompt: 'Other' }),
  });
  const { code, stdout, stderr } = await run('helper');
  expect([code, stderr]).toEqual([1, '']);
  // The duration.
  expect(stdout.replaceAll(/ {2}\d[\d. ms]*$/gm, '  ms').split('\n')).toEqual([
    'pass  other:1  Other  ms',
    'pass  words:1  Hello  ms',
    'FAIL  words:2  Bye  the response does not contain "hello": "You said Bye". the response does not match ^bye: "You said Bye"',
    'FAIL  words:3  use send {}  read_file was not called. send was called. calls were denied: allow them with --allow or --yes',
    // The price of the model is unknown.
    '2 of 4 cases passed',
    '',
  ]);
  expect(await run('helper', 'other')).toMatchObject({ code: 0 });
  expect(await run('helper', 'wurds')).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('has only these evals: other, words.') },
  });
});

test('a case has its own directory with its files, no session, and the permissions of the command line', async () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('cobbler-eval-'));
  const { run, home, folder } = await helper(obeys, {
    'evals/files.jsonl': lines(
      { prompt: 'use read_file {"path":"data.txt"}', contains: 'the needle' },
      { prompt: 'use write_file {"path":"data.txt","content":"changed"}', calls: 'write_file' },
      { prompt: 'use read_file {"path":"data.txt"}', contains: 'the needle' },
      { prompt: 'use read_file {"path":"notes.txt"}', contains: 'not exist' },
      { prompt: 'use send {}', contains: 'sent' },
    ),
    'evals/files/data.txt': 'the needle',
  });
  const { code, stdout } = await run('helper', '--yes', '--json');
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(results.map(({ problems }) => problems)).toEqual([[], [], [], [], [], undefined]);
  expect(code).toBe(0);
  expect(results[4]).toMatchObject({
    eval: 'files',
    line: 5,
    ok: true,
    calls: ['send'],
    text: 'Result: sent',
  });
  expect(results.at(-1)).toMatchObject({ total: { cases: 5, failed: 0 } });
  expect([existsSync(join(home, 'sessions.db')), existsSync(join(folder, 'data.txt'))]).toEqual([
    false,
    false,
  ]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('cobbler-eval-'))).toEqual(before);
});

test('a case that reaches a limit fails with the reason', async () => {
  const { run } = await helper(() => [['read_file', { path: 'a' }]], {
    'evals/a.jsonl': lines({ prompt: 'Loop' }),
  });
  const { code, stdout } = await run('helper', '--max-turns', '2');
  expect([code, stdout]).toEqual([1, expect.stringContaining('FAIL  a:1  Loop  ')]);
  expect(stdout).toMatch(/limit|2 turns/);
});

test('without evals, and without a key, an error says what to write', async () => {
  const { run, folder, home } = await helper(() => 'Hi.', {});
  expect(await run('helper')).toMatchObject({ code: 2, stderr: expect.stringContaining('evals/NAME.jsonl') });
  put(folder, { 'helper/evals/a.jsonl': lines({ prompt: 'Hi' }) });
  const env = { HOME: folder, COBBLER_HOME: home };
  const { code, stderr } = await cobbler(['eval', 'helper'], { env, cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining('ANTHROPIC_API_KEY')]);
});
