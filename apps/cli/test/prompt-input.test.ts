import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { partOf, textOrFile } from '../src/attachment.ts';
import { findInstructions } from '../src/instructions.ts';
import { readPrompt } from '../src/prompt-input.ts';
import { dayOf, systemPrompt } from '../src/system-prompt.ts';
import { fakeIo } from './fake-io.ts';
import { temporaryFolder } from './temporary-folder.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the prompt', () => {
  test('is the words given', async () => {
    expect(await readPrompt(['fix', 'it'], [], fakeIo())).toEqual([{ type: 'text', text: 'fix it' }]);
  });

  test('is what is piped in when there are no words', async () => {
    expect(await readPrompt([], [], fakeIo({ input: 'fix it\n' }))).toEqual([
      { type: 'text', text: 'fix it' },
    ]);
    expect(await readPrompt(['-'], [], fakeIo({ input: 'fix it\n' }))).toEqual([
      { type: 'text', text: 'fix it' },
    ]);
  });

  test('with both, the pipe is attached before the words', async () => {
    expect(await readPrompt(['review'], [], fakeIo({ input: 'diff --git\n' }))).toEqual([
      { type: 'text', text: '<attachment name="standard input">\ndiff --git\n</attachment>' },
      { type: 'text', text: 'review' },
    ]);
  });

  test('an empty pipe counts as none', async () => {
    expect(await readPrompt(['review'], [], fakeIo({ input: ' \n' }))).toEqual([
      { type: 'text', text: 'review' },
    ]);
    await expect(readPrompt([], [], fakeIo({ input: '' }))).rejects.toThrow('There is nothing to do');
  });

  test('a picture piped in with words is attached as one', async () => {
    const io = { ...fakeIo(), stdin: { tty: false, read: async () => bytes('\x89PNG\r\n\x1a\n....') } };
    const [part] = await readPrompt(['what is this?'], [], io);
    expect(part).toMatchObject({ type: 'image', mediaType: 'image/png' });
  });

  test('a pipe that does not end is waited for, and said so', async () => {
    let end: (value: Uint8Array) => void = () => undefined;
    const io = {
      ...fakeIo(),
      stdin: { tty: false, read: () => new Promise<Uint8Array>((resolve) => (end = resolve)) },
    };
    const prompt = readPrompt(['x'], [], io);
    io.clock.advance(1000);
    expect(io.stderr.text()).toContain('reading standard input to its end');
    end(bytes('late'));
    expect(await prompt).toHaveLength(2);
  });
});

describe('attachments', () => {
  test.each([
    ['\xff\xd8\xff\xe0', { type: 'image', mediaType: 'image/jpeg' }],
    ['GIF89a', { type: 'image', mediaType: 'image/gif' }],
    ['RIFF1234WEBPVP8 ', { type: 'image', mediaType: 'image/webp' }],
    ['%PDF-1.7', { type: 'document', mediaType: 'application/pdf', name: 'a.txt' }],
  ])('are known by their content: %j', (content, part) => {
    expect(partOf(bytes(content), 'some/a.txt')).toMatchObject(part);
  });

  test('what is neither text, picture nor PDF is refused', () => {
    expect(() => partOf(bytes('\0\x01\x02'), 'a.bin')).toThrow('neither text nor a picture');
    expect(() => partOf(bytes('\xff\xfeab'), 'a.txt')).not.toThrow();
    expect(() => partOf(bytes('caf\xe9'), 'latin1.txt')).toThrow('neither text');
  });

  test('a name cannot break out of its frame', () => {
    expect(partOf(bytes('x'), 'a">\n<b')).toMatchObject({
      text: '<attachment name="a\\">\\n<b">\nx\n</attachment>',
    });
  });

  test('a missing file is named', async () => {
    const io = fakeIo({ cwd: temporaryFolder() });
    await expect(readPrompt(['x'], ['none.txt'], io)).rejects.toThrow('none.txt does not exist.');
    await expect(readPrompt(['x'], ['.'], io)).rejects.toThrow('. is a folder.');
  });

  test('@FILE stands for its text', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 's.md'), 'be brief');
    expect(textOrFile('@s.md', folder)).toBe('be brief');
    expect(textOrFile('be brief', folder)).toBe('be brief');
  });
});

/** As much of a repository as says that it is one. */
function repositoryIn(folder: string): void {
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
}

describe('instructions of the project', () => {
  test('AGENTS.md goes before CLAUDE.md, and the nearest folder before those above', () => {
    const root = temporaryFolder();
    const inner = join(root, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    repositoryIn(root);
    expect(findInstructions(inner)).toBeUndefined();
    writeFileSync(join(root, 'CLAUDE.md'), 'of claude');
    expect(findInstructions(inner)?.text).toBe('of claude');
    writeFileSync(join(root, 'AGENTS.md'), 'of agents');
    expect(findInstructions(inner)?.text).toBe('of agents');
    writeFileSync(join(inner, 'CLAUDE.md'), 'nearest');
    expect(findInstructions(inner)?.path).toBe(join(inner, 'CLAUDE.md'));
  });

  test('above the repository, and outside of one, nothing is read', () => {
    const root = temporaryFolder();
    const repository = join(root, 'repository');
    const plain = join(root, 'plain');
    mkdirSync(repository);
    repositoryIn(repository);
    mkdirSync(join(plain, '.git'), { recursive: true });
    writeFileSync(join(root, 'AGENTS.md'), 'of somebody else');
    expect(findInstructions(repository)).toBeUndefined();
    expect(findInstructions(plain)).toBeUndefined();
  });
});

test('the instructions for the model: what changes comes last', () => {
  const parts = systemPrompt({
    own: 'Own text.',
    appended: 'And this.',
    instructions: { path: '/p/AGENTS.md', text: 'Use tabs.\n' },
    folder: '/p',
    platform: 'linux',
    today: '2026-11-21',
    hasTools: true,
  });
  expect(parts).toEqual([
    'Own text.',
    "The project's own instructions, from /p/AGENTS.md:\n\nUse tabs.",
    'And this.',
    'Folder: /p\nSystem: linux\nToday: 2026-11-21',
  ]);
});

test('the model is told the day at the place of whoever asks', () => {
  expect(dayOf(new Date(2026, 0, 5, 23, 59))).toBe('2026-01-05');
  expect(dayOf(new Date(2026, 10, 21, 0, 0))).toBe('2026-11-21');
});
