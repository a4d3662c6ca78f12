import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { promptParts } from '../../src/acp/prompt-parts.ts';
import { withReferences } from '../../src/chat/input/references.ts';
import { partOf, textOrFile } from '../../src/config/attachment.ts';
import { findInstructions } from '../../src/config/instructions.ts';
import { readPrompt } from '../../src/config/prompt-input.ts';
import { dayOf, systemPrompt } from '../../src/config/system-prompt.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the prompt', () => {
  test('is the arguments', async () => {
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
    await expect(readPrompt([], [], fakeIo({ input: '' }))).rejects.toThrow('The prompt is missing');
  });

  test('a picture piped in with words is attached as one', async () => {
    const io = { ...fakeIo(), stdin: { tty: false, read: async () => bytes('\x89PNG\r\n\x1a\n....') } };
    const [part] = await readPrompt(['what is this?'], [], io);
    expect(part).toMatchObject({ type: 'file', mediaType: 'image/png' });
  });

  test('a pipe that does not end is waited for, and said so', async () => {
    let end: (value: Uint8Array) => void = () => undefined;
    const io = {
      ...fakeIo(),
      stdin: { tty: false, read: () => new Promise<Uint8Array>((resolve) => (end = resolve)) },
    };
    const prompt = readPrompt(['x'], [], io);
    io.clock.advance(1000);
    expect(io.stderr.text()).toContain('reading standard input until it ends');
    end(bytes('late'));
    expect(await prompt).toHaveLength(2);
  });
});

describe('attachments', () => {
  test.each([
    ['\xff\xd8\xff\xe0', { type: 'file', mediaType: 'image/jpeg' }],
    ['GIF89a', { type: 'file', mediaType: 'image/gif' }],
    ['RIFF1234WEBPVP8 ', { type: 'file', mediaType: 'image/webp' }],
    ['%PDF-1.7', { type: 'file', mediaType: 'application/pdf', name: 'a.txt' }],
  ])('are known by their content: %j', (content, part) => {
    expect(partOf(bytes(content), 'some/a.txt')).toMatchObject(part);
  });

  test('what is is not text, picture nor PDF is refused', () => {
    expect(() => partOf(bytes('\0\x01\x02'), 'a.bin')).toThrow('is not text, an image');
    expect(() => partOf(bytes('\xff\xfeab'), 'a.txt')).not.toThrow();
    expect(() => partOf(bytes('caf\xe9'), 'latin1.txt')).toThrow('is not text');
  });

  test('a name cannot break out of its frame', () => {
    expect(partOf(bytes('x'), 'a">\n<b')).toMatchObject({
      text: '<attachment name="a\\">\\n<b">\nx\n</attachment>',
    });
  });

  test('a missing file is named', async () => {
    const io = fakeIo({ cwd: temporaryFolder() });
    await expect(readPrompt(['x'], ['none.txt'], io)).rejects.toThrow('none.txt does not exist.');
    await expect(readPrompt(['x'], ['.'], io)).rejects.toThrow('. is a directory.');
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
  test('AGENTS.md goes before CLAUDE.md, and the nearest folder before those above', async () => {
    const root = temporaryFolder();
    const inner = join(root, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    repositoryIn(root);
    expect(await findInstructions(inner)).toBeUndefined();
    writeFileSync(join(root, 'CLAUDE.md'), 'of claude');
    expect((await findInstructions(inner))?.text).toBe('of claude');
    writeFileSync(join(root, 'AGENTS.md'), 'of agents');
    expect((await findInstructions(inner))?.text).toBe('of agents');
    writeFileSync(join(inner, 'CLAUDE.md'), 'nearest');
    expect((await findInstructions(inner))?.path).toBe(join(inner, 'CLAUDE.md'));
  });

  test('above the repository, and outside of one, nothing is read', async () => {
    const root = temporaryFolder();
    const repository = join(root, 'repository');
    const plain = join(root, 'plain');
    mkdirSync(repository);
    repositoryIn(repository);
    mkdirSync(join(plain, '.git'), { recursive: true });
    writeFileSync(join(root, 'AGENTS.md'), 'of somebody else');
    expect(await findInstructions(repository)).toBeUndefined();
    expect(await findInstructions(plain)).toBeUndefined();
  });
});

describe('a link that a project brings', () => {
  /** A project and a key of the user beside it. */
  function projectWithKey(): { root: string; key: string } {
    const area = temporaryFolder();
    const root = join(area, 'project');
    mkdirSync(root);
    repositoryIn(root);
    const key = join(area, 'key');
    writeFileSync(key, 'secret');
    return { root, key };
  }

  test.each(['AGENTS.md', 'CLAUDE.md'])(
    '%s that leads out of the repository is not read, and said so [P21]',
    async (name) => {
      const { root, key } = projectWithKey();
      symlinkSync(key, join(root, name));
      const lines: string[] = [];
      expect(await findInstructions(root, { report: (line) => lines.push(line) })).toBeUndefined();
      expect(lines).toEqual([expect.stringContaining(`${join(root, name)} is not read`)]);
    },
  );

  test('nor is one whose folder is a link, nor one that leads to Cobbler’s own files [P21]', async () => {
    const { root } = projectWithKey();
    mkdirSync(join(root, 'home'));
    writeFileSync(join(root, 'home', 'config.yaml'), 'apiKey: secret');
    symlinkSync(join('home', 'config.yaml'), join(root, 'AGENTS.md'));
    expect(await findInstructions(root, { env: { COBBLER_HOME: join(root, 'home') } })).toBeUndefined();
    expect((await findInstructions(root))?.text).toBe('apiKey: secret');
  });

  test('instructions may lead to another file of the repository', async () => {
    const { root } = projectWithKey();
    writeFileSync(join(root, 'AGENTS.md'), 'of agents');
    mkdirSync(join(root, 'inner'));
    symlinkSync('../AGENTS.md', join(root, 'inner', 'CLAUDE.md'));
    const found = await findInstructions(join(root, 'inner'));
    expect(found).toEqual({ path: join(root, 'inner', 'CLAUDE.md'), text: 'of agents' });
  });

  test('instructions that are a FIFO are not waited for [P2]', async () => {
    const { root } = projectWithKey();
    execFileSync('mkfifo', [join(root, 'AGENTS.md')]);
    expect(await findInstructions(root)).toBeUndefined();
  });

  test('an attachment by its name in the folder does not lead out of it [P21]', async () => {
    const { root, key } = projectWithKey();
    symlinkSync(key, join(root, 'notes.txt'));
    symlinkSync('..', join(root, 'up'));
    const io = { ...fakeIo(), cwd: () => root };
    for (const path of ['notes.txt', join(root, 'notes.txt'), 'up/key'])
      await expect(readPrompt(['x'], [path], io)).rejects.toThrow('leads out of the directory');
    expect(() => withReferences('read @notes.txt', root)).toThrow('leads out of the directory');
    const link = { type: 'resource_link' as const, name: 'notes', uri: `file://${root}/notes.txt` };
    expect(() => promptParts([link], root)).toThrow('leads out of the directory');
    const [part] = await readPrompt(['x'], [key], io);
    expect(part).toMatchObject({ text: expect.stringContaining('secret') });
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
