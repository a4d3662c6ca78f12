import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scriptedAgent } from '@cobbler/agent/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { definitionsIn, expandLine } from '../../src/project/definitions.ts';
import { listSkills, trust } from '../../src/project/skills-command.ts';
import type { Key } from '../../src/terminal/io.ts';
import { chatStage } from '../chat/chat-stage.ts';
import type { FakeIo } from '../support/fake-io.ts';
import { fakeIo, fakeKeyboard } from '../support/fake-io.ts';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let root: string;
let home: string;
let env: Record<string, string>;

beforeEach(() => {
  root = temporaryFolder();
  home = temporaryFolder();
  env = { HOME: home, COBBLER_HOME: join(home, '.cobbler') };
  mkdirSync(join(root, '.git'));
  writeFileSync(join(root, '.git', 'HEAD'), 'ref: refs/heads/main\n');
});

function put(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function skill(description: string, body = 'Step 1'): string {
  return `---\nname: x\ndescription: ${description}\n---\n${body}\n`;
}

function terminal(answer?: string | Key): FakeIo {
  const keyboard = fakeKeyboard();
  const io = fakeIo({ env, keyboard });
  const { write } = io.stderr;
  io.stderr.write = (text) => {
    write(text);
    if (!text.includes('Use them?') || answer === undefined) return;
    setImmediate(() => {
      io.clock.advance(1000);
      keyboard.press(answer);
    });
  };
  return io;
}

const load = async (io: FakeIo, asks = true, contextFiles = true) =>
  await definitionsIn(root, { contextFiles }, io, asks);

async function output(command: 'skills' | 'trust'): Promise<string> {
  const io = fakeIo({ env });
  await (command === 'skills' ? listSkills({ dir: root }, io) : trust(root, io));
  return io.stdout.text();
}

const nobody = () => fakeIo({ env, input: '' });
const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
const own = ['init', 'review'];

describe('definitions of a project', () => {
  test('are used after the user has said yes, once for the same contents', async () => {
    put(root, '.claude/skills/pdf/SKILL.md', skill('Fills forms.'));
    put(root, '.claude/commands/fix.md', 'Fix $1.');
    put(root, '.claude/agents/reviewer.md', '---\ndescription: Reviews.\n---\nYou review.');
    const io = terminal('y');
    const { tools, commands, agents } = await load(io);
    expect(io.stderr.text()).toMatch(
      /skill +pdf +new +\.claude\/skills\/pdf\/SKILL\.md\n.*fix.*\n.*reviewer/,
    );
    expect(tools[0]?.description).toContain('- pdf: Fills forms.');
    expect(names(commands)).toEqual(['fix', 'pdf', ...own]);
    expect(names(agents)).toEqual(['reviewer']);
    const again = terminal();
    expect(names((await load(again)).commands)).toEqual(['fix', 'pdf', ...own]);
    expect(again.stderr.text()).toBe('');
  });

  test('are not trusted by keys that belong to a message', async () => {
    put(root, '.claude/commands/fix.md', 'Fix $1.');
    const keyboard = fakeKeyboard();
    const io = fakeIo({ env, keyboard });
    const loading = load(io);
    await expect.poll(() => io.stderr.text()).toContain('Use them?');
    for (const key of 'y why do you say y') {
      keyboard.press(key);
      io.clock.advance(400);
    }
    io.clock.advance(200);
    keyboard.press('n');
    expect(names((await loading).commands)).toEqual(own);
  });

  test('are asked about again when a file of a skill changed; the others stay trusted', async () => {
    put(root, '.claude/skills/pdf/SKILL.md', skill('Fills forms.'));
    put(root, '.claude/skills/other/SKILL.md', skill('Other.'));
    await load(terminal('y'));
    put(root, '.claude/skills/pdf/run.sh', 'curl x | sh');
    const io = terminal('n');
    const { commands } = await load(io);
    expect(io.stderr.text()).toContain('changed');
    expect(io.stderr.text()).not.toContain('other');
    expect(names(commands)).toEqual(['other', ...own]);
    const silent = terminal();
    expect(names((await load(silent)).commands)).toEqual(['other', ...own]);
    expect(silent.stderr.text()).toBe('');
    expect(await output('skills')).toMatch(/pdf +refused/);
  });

  test('are not used without a terminal, and one line says how to trust them', async () => {
    put(root, '.agents/skills/pdf/SKILL.md', skill('Fills forms.'));
    for (const io of [nobody(), terminal('y')]) {
      const { tools, commands } = await load(io, false);
      expect(tools).toEqual([]);
      expect(names(commands)).toEqual(own);
      expect(io.stderr.text()).toMatch(
        /^cobbler: Skills, .* project \(1\) are not used, .* cobbler trust\n$/,
      );
    }
    expect(await output('skills')).toBe(
      '  skill    pdf                      new      .agents/skills/pdf/SKILL.md\n',
    );
    expect(await output('trust')).toContain(`Trusted in ${root}:\n  skill    pdf`);
    expect(await output('trust')).toBe('There is nothing new to trust.\n');
    const io = nobody();
    expect(names((await load(io)).commands)).toEqual(['pdf', ...own]);
    expect(io.stderr.text()).toBe('');
    put(home, '.cobbler/commands/pdf.md', 'of the user');
    expect((await load(io)).commands.map(({ body }) => body)[0]).toBe('of the user');
    expect(names((await load(io)).commands)).toEqual(['pdf', ...own]);
  });

  test('are ignored without context files, unlike those of the user', async () => {
    put(root, '.agents/skills/pdf/SKILL.md', skill('Fills forms.'));
    put(home, '.claude/skills/mine/SKILL.md', skill('Mine.'));
    const io = nobody();
    expect(names((await load(io, true, false)).commands)).toEqual(['mine', ...own]);
    expect(io.stderr.text()).toBe('');
  });

  test('replace those of the user with the same name only if they are trusted', async () => {
    put(root, '.agents/skills/pdf/SKILL.md', skill('of the project'));
    put(home, '.cobbler/skills/pdf/SKILL.md', skill('of the user'));
    const { tools } = await load(terminal('n'));
    expect(tools[0]?.description).toContain('pdf: of the user');
    await output('trust');
    expect((await load(terminal())).tools[0]?.description).toContain('pdf: of the project');
  });

  test('cannot become trusted as a rule of the project', async () => {
    put(root, '.agents/skills/pdf/SKILL.md', skill('Fills forms.'));
    await output('trust');
    const recorded = JSON.parse(readFileSync(join(home, '.cobbler', 'trusted-rules.json'), 'utf8'));
    expect(Object.keys(recorded)).toEqual([`definitions of ${root}`]);
    expect(recorded[root]).toBeUndefined();
  });

  test('are not shown to a terminal as they are', async () => {
    put(root, '.claude/commands/a\u001b[2Jb.md', 'x');
    put(root, `.claude/commands/c.md`, '---\ndescription: [\n---\n');
    const io = nobody();
    await load(io);
    expect(io.stderr.text() + (await output('skills'))).not.toContain('\u001b');
    expect(io.stderr.text()).toContain('c.md is not used: its YAML is invalid');
  });

  test('are decided in groups that fit on a screen: what was not listed is not used', async () => {
    for (let at = 10; at < 45; at += 1) put(root, `.claude/commands/c${at}.md`, 'x');
    const keyboard = fakeKeyboard();
    const io = fakeIo({ env, keyboard });
    const loading = load(io);
    await expect.poll(() => io.stderr.text()).toContain('Use them? y yes, n no, then the other 5');
    expect(io.stderr.text()).not.toContain('c40');
    io.clock.advance(1000);
    keyboard.press('y');
    await expect.poll(() => io.stderr.text()).toMatch(/also wrote[\s\S]*c44\.md\nUse them\? y yes, n no $/);
    io.clock.advance(1000);
    keyboard.press('n');
    expect(names((await loading).commands)).toHaveLength(30 + own.length);
    expect((await output('skills')).match(/refused/g)).toHaveLength(5);
  });

  test('Ctrl-C at the question ends the program', async () => {
    put(root, '.agents/skills/pdf/SKILL.md', skill('Fills forms.'));
    await expect(load(terminal({ type: 'interrupt' }))).rejects.toThrow('exit 130');
    expect(await output('skills')).toContain('new');
  });
});

describe('commands', () => {
  test("a user's file replaces our own command with its name", async () => {
    put(home, '.cobbler/commands/review.md', 'Look at $ARGUMENTS.');
    const { commands } = await load(nobody());
    expect(await expandLine('/review a b', commands)).toBe('Look at a b.');
    expect(await expandLine('/init', commands)).toContain('AGENTS.md');
    expect(await expandLine('/etc/passwd is what?', commands)).toBe('/etc/passwd is what?');
    expect(await expandLine('review', commands)).toBe('review');
  });

  test('send their text in a chat, attach only the files of their arguments, and are in the menu and the help', async () => {
    put(root, 'a.txt', 'content of a');
    put(root, 'key.txt', 'secret');
    const commands = [
      {
        name: 'fix',
        description: 'Fixes it',
        argumentHint: '[file]',
        body: 'Fix @key.txt and $1.',
        kind: 'command' as const,
        path: '',
        digest: '',
      },
      { name: 'help', description: 'Never shown', body: 'x', kind: 'command' as const, path: '', digest: '' },
    ];
    const requests: string[] = [];
    const agent = scriptedAgent(['Done.']);
    const stage = await chatStage({
      folder: root,
      commands,
      agent: {
        ...agent,
        run: (request, ...more) => {
          requests.push(JSON.stringify(request.messages));
          return agent.run(request, ...more);
        },
      },
    });
    stage.type('/fi');
    await stage.until(/\/fix +Fixes it \[file\]/);
    stage.type('\x15', '/help', '\r');
    await stage.until('Fixes it');
    expect(stage.text()).not.toContain('Never shown');
    stage.type('/fix @a.txt', '\r');
    await stage.until('Done.');
    expect(requests[0]).toContain('Fix @key.txt and @a.txt.');
    expect(requests[0]).toContain('content of a');
    expect(requests[0]).not.toContain('secret');
  });
});

test('a run lists skills to the model, loads one, and expands a command', { timeout: 60_000 }, async () => {
  put(home, '.claude/skills/pdf/SKILL.md', skill('Fills forms.', 'Use the form tool.'));
  put(home, '.claude/skills/pdf/ref.md', 'reference');
  put(home, '.claude/commands/fix.md', 'Fix $1 now.');
  const service = await mockService([
    says('', ['skill', { name: 'pdf' }], ['skill', { name: 'pdf', file: 'ref.md' }]),
    says('Done.'),
  ]);
  const end = await cobbler(['/fix it', '--read-only', '--record', 'run.jsonl'], {
    env: { ...claudeAt(service), ...env },
    cwd: root,
  });
  expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
  const sent = JSON.stringify(service.server.exchanges.map(({ request }) => request));
  expect(sent).toContain('Fix it now.');
  expect(sent).toContain('Use the form tool.');
  expect(sent).toContain('reference');
  const elsewhere = { env: claudeAt(service), cwd: root };
  const replay = await cobbler(['--replay', 'run.jsonl'], elsewhere);
  expect(replay).toMatchObject({ code: 0, stdout: 'Done.\n' });
});
