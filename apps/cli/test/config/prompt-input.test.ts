import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { promptParts } from '../../src/acp/acp-session.ts';
import { withReferences } from '../../src/chat/input/references.ts';
import { partOf, textOrFile } from '../../src/config/attachment.ts';
import { findInstructions } from '../../src/config/instructions.ts';
import { readPrompt } from '../../src/config/prompt-input.ts';
import { dayOf, systemPrompt } from '../../src/config/system-prompt.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the prompt', () => {
  test('consists of the arguments', async () => {
    expect(await readPrompt(['fix', 'it'], [], fakeIo())).toEqual([{ type: 'text', text: 'fix it' }]);
  });

  test('is the piped input if there are no arguments', async () => {
    expect(await readPrompt([], [], fakeIo({ input: 'fix it\n' }))).toEqual([
      { type: 'text', text: 'fix it' },
    ]);
    expect(await readPrompt(['-'], [], fakeIo({ input: 'fix it\n' }))).toEqual([
      { type: 'text', text: 'fix it' },
    ]);
  });

  test('contains the piped input as an attachment before the arguments', async () => {
    expect(await readPrompt(['review'], [], fakeIo({ input: 'diff --git\n' }))).toEqual([
      { type: 'text', text: '<attachment name="standard input">\ndiff --git\n</attachment>' },
      { type: 'text', text: 'review' },
    ]);
  });

  test('ignores an empty pipe', async () => {
    expect(await readPrompt(['review'], [], fakeIo({ input: ' \n' }))).toEqual([
      { type: 'text', text: 'review' },
    ]);
    await expect(readPrompt([], [], fakeIo({ input: '' }))).rejects.toThrow('The prompt is missing');
  });

  test('contains a piped image as an attachment', async () => {
    const io = { ...fakeIo(), stdin: { tty: false, read: async () => bytes('\x89PNG\r\n\x1a\n....') } };
    const [part] = await readPrompt(['what is this?'], [], io);
    expect(part).toMatchObject({ type: 'file', mediaType: 'image/png' });
  });

  test('waits for the end of a pipe and says so', async () => {
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
  ])('are recognized by their content: %j', (content, part) => {
    expect(partOf(bytes(content), 'some/a.txt')).toMatchObject(part);
  });

  test('are rejected if they are not text, an image or a PDF', () => {
    expect(() => partOf(bytes('\0\x01\x02'), 'a.bin')).toThrow('is not text, an image');
    expect(() => partOf(bytes('\xff\xfeab'), 'a.txt')).not.toThrow();
    expect(() => partOf(bytes('caf\xe9'), 'latin1.txt')).toThrow('is not text');
  });

  test('escape a name that could break the markup', () => {
    expect(partOf(bytes('x'), 'a">\n<b')).toMatchObject({
      text: '<attachment name="a\\">\\n<b">\nx\n</attachment>',
    });
  });

  test('are rejected if the file is missing or is a directory', async () => {
    const io = fakeIo({ cwd: temporaryFolder() });
    await expect(readPrompt(['x'], ['none.txt'], io)).rejects.toThrow('none.txt does not exist.');
    await expect(readPrompt(['x'], ['.'], io)).rejects.toThrow('. is a directory.');
  });

  test('@FILE is replaced with the text of the file', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 's.md'), 'be brief');
    expect(textOrFile('@s.md', folder)).toBe('be brief');
    expect(textOrFile('be brief', folder)).toBe('be brief');
  });
});

/** Creates the files that identify a Git repository. */
function repositoryIn(folder: string): void {
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
}

async function textsIn(folder: string): Promise<string[]> {
  return (await findInstructions(folder)).map(({ text }) => text);
}

describe('project instructions', () => {
  test('come from AGENTS.md before CLAUDE.md, in every directory from the user to the working directory', async () => {
    const root = temporaryFolder();
    const inner = join(root, 'a', 'b');
    const home = temporaryFolder();
    mkdirSync(inner, { recursive: true });
    repositoryIn(root);
    expect(await findInstructions(inner, { home })).toEqual([]);
    writeFileSync(join(root, 'CLAUDE.md'), 'of claude');
    expect(await textsIn(inner)).toEqual(['of claude']);
    writeFileSync(join(root, 'AGENTS.md'), 'of agents\n');
    writeFileSync(join(root, 'a', 'AGENTS.md'), ' \n');
    writeFileSync(join(inner, 'CLAUDE.md'), 'nearest');
    writeFileSync(join(home, 'AGENTS.md'), 'of the user');
    expect(await findInstructions(inner, { home, env: { HOME: home } })).toEqual([
      { owner: 'user', name: '~/AGENTS.md', path: join(home, 'AGENTS.md'), text: 'of the user' },
      { owner: 'project', name: 'AGENTS.md', path: join(root, 'AGENTS.md'), text: 'of agents' },
      { owner: 'project', name: 'a/b/CLAUDE.md', path: join(inner, 'CLAUDE.md'), text: 'nearest' },
    ]);
    expect(await textsIn(inner)).toEqual(['of agents', 'nearest']);
  });

  test('are bounded in total, and the nearest are the last to be shortened', async () => {
    const root = temporaryFolder();
    const inner = join(root, 'a');
    mkdirSync(inner);
    repositoryIn(root);
    writeFileSync(join(root, 'AGENTS.md'), 'x'.repeat(40_000));
    writeFileSync(join(inner, 'AGENTS.md'), 'y'.repeat(40_000));
    expect((await textsIn(inner)).map((text) => text.length)).toEqual([10_043, 40_000]);
  });

  test('are not read above the repository or outside one', async () => {
    const root = temporaryFolder();
    const repository = join(root, 'repository');
    const plain = join(root, 'plain');
    mkdirSync(repository);
    repositoryIn(repository);
    mkdirSync(join(plain, '.git'), { recursive: true });
    writeFileSync(join(root, 'AGENTS.md'), 'of somebody else');
    expect(await textsIn(repository)).toEqual([]);
    expect(await textsIn(plain)).toEqual([]);
  });
});

describe('links and special files in a project', () => {
  /** Creates a project, and a key file of the user outside it. */
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
    '%s that links outside the repository is not read, and this is reported [P21]',
    async (name) => {
      const { root, key } = projectWithKey();
      symlinkSync(key, join(root, name));
      const lines: string[] = [];
      expect(await findInstructions(root, { report: (line) => lines.push(line) })).toEqual([]);
      expect(lines).toEqual([expect.stringContaining(`${join(root, name)} was not read`)]);
    },
  );

  test('instructions in a directory that links outside the repository are not read, and this is reported [P21]', async () => {
    const { root } = projectWithKey();
    const outside = join(root, '..', 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'AGENTS.md'), 'secret');
    symlinkSync(outside, join(root, 'inner'));
    const lines: string[] = [];
    const report = (line: string) => lines.push(line);
    expect(await findInstructions(join(root, 'inner'), { report })).toEqual([]);
    expect(lines).toContainEqual(expect.stringContaining(`${join(root, 'inner', 'AGENTS.md')} was not read`));
    writeFileSync(join(root, 'AGENTS.md'), 'of agents');
    expect(await textsIn(join(root, 'inner'))).toEqual(['of agents']);
  });

  test('instructions that link to the files of Cobbler are not read [P21]', async () => {
    const { root } = projectWithKey();
    mkdirSync(join(root, 'home'));
    writeFileSync(join(root, 'home', 'config.yaml'), 'apiKey: secret');
    symlinkSync(join('home', 'config.yaml'), join(root, 'AGENTS.md'));
    expect(await findInstructions(root, { env: { COBBLER_HOME: join(root, 'home') } })).toEqual([]);
    expect(await textsIn(root)).toEqual(['apiKey: secret']);
  });

  test('instructions can link to another file of the repository', async () => {
    const { root } = projectWithKey();
    writeFileSync(join(root, 'AGENTS.md'), 'of agents');
    mkdirSync(join(root, 'inner'));
    symlinkSync('../AGENTS.md', join(root, 'inner', 'CLAUDE.md'));
    const found = await findInstructions(join(root, 'inner'));
    expect(found.at(-1)).toMatchObject({ path: join(root, 'inner', 'CLAUDE.md'), text: 'of agents' });
  });

  test('instructions that are a FIFO do not block [P2]', async () => {
    const { root } = projectWithKey();
    execFileSync('mkfifo', [join(root, 'AGENTS.md')]);
    expect(await findInstructions(root)).toEqual([]);
  });

  test('an attachment in the directory must not link outside it [P21]', async () => {
    const { root, key } = projectWithKey();
    symlinkSync(key, join(root, 'notes.txt'));
    symlinkSync('..', join(root, 'up'));
    const io = { ...fakeIo(), cwd: () => root };
    for (const path of ['notes.txt', join(root, 'notes.txt'), 'up/key'])
      await expect(readPrompt(['x'], [path], io)).rejects.toThrow('outside the working directory');
    for (const path of ['notes.txt', 'up/key']) {
      expect(() => withReferences(`read @${path}`, root)).toThrow('outside the working directory');
      const link = { type: 'resource_link' as const, name: 'notes', uri: `file://${root}/${path}` };
      expect(() => promptParts([link], root)).toThrow('outside the working directory');
    }
    const [part] = await readPrompt(['x'], [key], io);
    expect(part).toMatchObject({ text: expect.stringContaining('secret') });
  });
});

test('the system prompt puts variable content last', () => {
  const parts = systemPrompt({
    own: 'Own text.',
    appended: 'And this.',
    instructions: [{ owner: 'project', name: 'AGENTS.md', path: '/p/AGENTS.md', text: 'Use tabs.' }],
    folder: '/p',
    platform: 'linux',
    today: '2026-11-21',
    hasTools: true,
  });
  expect(parts).toEqual([
    'Own text.',
    "The project's own instructions (AGENTS.md):\n\nUse tabs.",
    'And this.',
    'Folder: /p\nInstructions: /p/AGENTS.md\nSystem: linux\nToday: 2026-11-21',
  ]);
});

test('the model receives the local date', () => {
  expect(dayOf(new Date(2026, 0, 5, 23, 59))).toBe('2026-01-05');
  expect(dayOf(new Date(2026, 10, 21, 0, 0))).toBe('2026-11-21');
});
