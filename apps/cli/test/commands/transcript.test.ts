import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Event } from '@cobbler/agent';
import { Executor, memoryStore } from '@cobbler/agent';
import { fakeRuntime, scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../src/command-line/parse.ts';
import { doctorTranscript } from '../../src/doctor/transcript.ts';
import { checkTranscript } from '../../src/doctor/transcript-check.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';
import { cobbler } from '../support/binary.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Runs a prompt with one tool call and returns its events as JSON Lines. */
async function logLines(): Promise<string[]> {
  const runtime = fakeRuntime();
  const store = memoryStore();
  const tool = {
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object' },
    execute: () => 'a shoe',
  };
  const agent = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }] }, 'A shoe.'], { runtime });
  const lines: string[] = [];
  const run = new Executor({ agent, tools: [tool], store, runtime }).run('What is it?', {
    onEvent: (event) => lines.push(JSON.stringify(event)),
  });
  expect((await run).status).toBe('complete');
  return lines;
}

const user = { role: 'user', content: 'What is it?' };
const toolUse = { type: 'tool_use', id: 'a', name: 'look', input: {} };
const claude = { model: 'm', max_tokens: 9, messages: [user, { role: 'assistant', content: [toolUse] }] };
const chat = [user, { role: 'tool', tool_call_id: 'a', content: 'a shoe' }];
const responses = { input: [user, { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' }] };

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly folder: string;
  read(name: string): string;
}

async function examine(content: unknown, options: Record<string, unknown> = {}): Promise<Outcome> {
  const folder = temporaryFolder();
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(folder, 'talk'), text);
  const io = fakeIo({ cwd: folder });
  const code = await doctorTranscript('talk', options, io);
  const plain = (output: { text(): string }) => stripVTControlCharacters(output.text());
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { code, out: plain(io.stdout), err: plain(io.stderr), folder, read };
}

describe('cobbler doctor FILE', () => {
  test('finds no problems in the events of a run, including its live events', async () => {
    const lines = await logLines();
    const { code, out } = await examine(lines.join('\n'));
    const stored = lines.filter((line) => line.includes('"seq"')).length;
    expect(lines.length).toBeGreaterThan(stored);
    expect([code, out]).toEqual([0, `✓ an event log, ${stored} events: no problems\n`]);
  });

  test('names the line of each problem and the command that repairs it', async () => {
    const lines = await logLines();
    const torn = [...lines.slice(0, 2), '', '{"v":1,"se', ...lines.slice(3, -1)];
    const { code, out } = await examine(torn.join('\n'));
    expect(code).toBe(1);
    expect(out.split('\n')[0]).toBe('✗ line 4 is not JSON');
    expect(out).toMatch(/✗ line \d+ is the last event, but does not end its run\n/);
    expect(out).toMatch(/\n {2}fix: cobbler doctor talk --fix -o FILE\n$/);
  });

  test.each([
    ['Claude Messages', claude, 'messages[1] contains a call to look ("a") without a result'],
    ['Chat Completions', chat, 'messages[1] is a result of the call "a", which is not open'],
    ['OpenAI Responses', responses, 'input[1] contains a call to look ("a") without a result'],
  ])('recognizes a conversation of %s by its content', async (name, content, problem) => {
    const { code, out } = await examine(content);
    expect([code, out.split('\n')]).toEqual([
      1,
      [
        `✗ ${problem}`,
        '',
        `1 problem in a conversation in ${name} format.`,
        '  fix: cobbler doctor talk --fix -o FILE',
        '',
      ],
    ]);
  });

  test('reads messages with plain text as Chat Completions', async () => {
    expect((await checkTranscript(JSON.stringify([user])))?.problems).toEqual([]);
    expect((await checkTranscript(`\ufeff${JSON.stringify([user])}`.slice(1)))?.kind).toContain('Chat');
  });

  test('prints JSON with --json', async () => {
    const { code, out } = await examine(claude, { json: true });
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        ok: false,
        file: 'talk',
        kind: 'a conversation in Claude Messages format',
        size: '3 messages',
        problems: [{ place: 'messages[1]', what: 'contains a call to look ("a") without a result' }],
      },
    ]);
  });

  test('shows fifty problems and counts the rest', async () => {
    const many = [
      user,
      ...Array.from({ length: 60 }, (_, id) => ({ role: 'tool', tool_call_id: `${id}`, content: 'x' })),
    ];
    const { out } = await examine(many);
    expect(out.split('\n').filter((line) => line.startsWith('✗'))).toHaveLength(50);
    expect(out).toContain('  and 10 more (all of them: --json)\n');
  });

  test('escapes control characters of the transcript', async () => {
    const { out } = await examine([user, { role: 'tool', tool_call_id: '\u001b]0;x\u0007', content: 'x' }]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
    expect(out).not.toMatch(/[\u001b\u0007]/);
  });
});

describe('cobbler doctor FILE --fix', () => {
  test.each([
    ['Claude', claude],
    ['Chat', chat],
    ['Responses', responses],
  ])('writes a repaired conversation and leaves the original unchanged: %s [P12]', async (_name, content) => {
    const { code, out, read } = await examine(content, { fix: true, output: 'whole' });
    expect([code, JSON.parse(read('talk'))]).toEqual([0, content]);
    expect(out).toContain('1 problem repaired.');
    expect((await checkTranscript(read('whole')))?.problems).toEqual([]);
    const before = content as { model?: string };
    expect((JSON.parse(read('whole')) as typeof before).model).toBe(before.model);
  });

  test('writes a repaired log and keeps its valid stored lines unchanged [P12]', async () => {
    const lines = await logLines();
    const { code, out, err } = await examine(lines.slice(0, -1).join('\n'), { fix: true });
    expect(code).toBe(0);
    expect(err).toContain('1 problem repaired.');
    const written = out.trimEnd().split('\n');
    expect((await checkTranscript(out))?.problems).toEqual([]);
    expect(written.slice(0, -1)).toEqual(lines.slice(0, -1).filter((line) => line.includes('"seq"')));
    expect((JSON.parse(written.at(-1) ?? '') as Event).type).toBe('finished');
  });

  test('writes into the original file with --in-place', async () => {
    const { code, read, out } = await examine(claude, { fix: true, inPlace: true });
    expect([code, JSON.parse(read('talk')).messages.length]).toEqual([0, 3]);
    expect(out).toMatch(/The repaired transcript is in .*talk\n$/);
  });

  test('keeps a valid transcript unchanged, byte for byte', async () => {
    const text = `[ {"role":"user","content":"Hi."} ]\n\n`;
    const { code, out, err } = await examine(text, { fix: true });
    expect([code, out]).toEqual([0, text]);
    expect(err).toContain('nothing to repair');
  });

  test('reports what the repaired transcript omits', async () => {
    const marked = { type: 'text', text: 'Go.', cache_control: { type: 'ephemeral' } };
    const messages = [
      { role: 'user', content: [marked, marked] },
      { role: 'assistant', content: [toolUse] },
    ];
    const { err } = await examine(messages, { fix: true });
    expect(err).toContain('note: messages[0] (and 1 more) contains cache_control; it would be omitted');
  });

  test('writes no file if the repair fails', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'talk'), JSON.stringify([{ role: 'critic', content: 'x' }]));
    const io = fakeIo({ cwd: folder });
    expect(await doctorTranscript('talk', { fix: true, output: 'whole' }, io)).toBe(1);
    expect(io.stdout.text()).toContain('Repair failed');
    expect(() => readFileSync(join(folder, 'whole'))).toThrow();
  });
});

describe('invalid input', () => {
  test.each([
    ['a missing file', 'nowhere', {}, 'nowhere does not exist.'],
    ['-o without --fix', 'talk', { output: 'x' }, '-o and --in-place need --fix.'],
    [
      'both -o and --in-place',
      'talk',
      { fix: true, output: 'x', inPlace: true },
      '--in-place and -o cannot be used together.',
    ],
    [
      'two outputs on one stream',
      'talk',
      { fix: true, json: true },
      '--json and --fix would both write to standard output.',
    ],
    ['an unknown format', 'talk', {}, 'talk is not in a known transcript format.'],
  ])('is rejected: %s', async (_what, path, options, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'talk'), 'Dear diary,\n');
    const outcome = doctorTranscript(path, options, fakeIo({ cwd: folder }));
    await expect(outcome).rejects.toThrow(UsageError);
    await expect(outcome).rejects.toThrow(message);
  });

  test.each([['{"a":1}'], ['[1,2]'], ['"x"'], ['{"messages":"none"}'], ['{"model":"m","messages":[{'], ['']])(
    '%s is not recognized as a transcript',
    async (text) => {
      expect(await checkTranscript(text)).toBeUndefined();
    },
  );
});

test('cobbler doctor parses a file argument and reads a pipe', async () => {
  const { command, operands, options } = parseCommandLine(['doctor', 'talk', '--fix', '-o', 'x']);
  expect([command, operands, options]).toEqual(['doctor', ['talk'], { fix: true, output: 'x' }]);
  const piped = await cobbler(['doctor', '-'], { input: JSON.stringify(claude) });
  expect([piped.code, piped.stdout.split('\n')[0]]).toEqual([
    1,
    'FAIL messages[1] contains a call to look ("a") without a result',
  ]);
});
