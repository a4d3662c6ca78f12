import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Tool } from '@cobbler/agent';

import type { DefinitionPlace, SkillDefinition } from '@cobbler/agent/definitions';
import {
  definitionPlaces,
  expandCommand,
  readAgentDefinitions,
  readCommands,
  readFrontMatter,
  readSkills,
  skillTool,
} from '@cobbler/agent/definitions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prefixTokens } from '../../../src/context/tokens.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-definitions-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, text: string | Uint8Array): string {
  const whole = join(root, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

function skill(description: string, body = 'Do it.', more = ''): string {
  return `---\nname: any\ndescription: ${description}\n${more}---\n\n${body}\n`;
}

const places = (folder = '.claude', project: string | undefined = root): DefinitionPlace[] => [
  { folder: join(root, folder), ...(project !== undefined && { project }) },
];
const own = (folder = '.claude'): DefinitionPlace[] => [{ folder: join(root, folder) }];

const context = { signal: new AbortController().signal } as never;
const call = async (tool: Tool, args: Record<string, unknown>) => await tool.execute(args, context);

describe('readFrontMatter', () => {
  it('separates the settings from the text, and reads every scalar as it is written', async () => {
    const { fields, body } = await readFrontMatter(
      '\uFEFF---\r\nname: 007\r\nreadonly: true\r\ntools: [a, b]\r\n---\r\nText\r\n---\r\nmore\r\n',
    );
    expect(fields).toEqual({ name: '007', readonly: 'true', tools: ['a', 'b'] });
    expect(body).toBe('Text\n---\nmore');
  });

  it.each([
    ['no settings', 'Only text', 'Only text'],
    ['settings without an end', '---\nname: x', '---\nname: x'],
    ['empty settings', '---\n---\nText', 'Text'],
  ])('accepts %s', async (_, text, body) => {
    expect(await readFrontMatter(text)).toEqual({ fields: {}, body });
  });

  it('keeps a hint in brackets as it is written', async () => {
    const { fields } = await readFrontMatter('---\nargument-hint: [file] [line]\n---\n');
    expect(fields['argument-hint']).toBe('[file] [line]');
  });

  it.each([
    ['aliases that multiply', `a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n`, 'alias'],
    ['deep nesting', `a: ${'['.repeat(15_000)}\n`, 'invalid'],
    ['a list', '- a\n', 'no settings'],
    ['a key that appears twice', 'a: 1\na: 2\n', 'unique'],
    ['a value with a colon', 'description: use it: always\n', 'invalid'],
    ['too much text', `a: ${'x'.repeat(33_000)}\n`, 'too long'],
  ])('rejects %s', async (_, settings, problem) => {
    const found = await readFrontMatter(`---\n${settings}---\nText`);
    expect(found).toMatchObject({ fields: {}, body: 'Text' });
    expect(found.problem).toContain(problem);
  });
});

describe('readSkills', () => {
  it('finds the directories with SKILL.md; the first of several with the same name is used', async () => {
    put('.claude/skills/pdf/SKILL.md', skill('Fills  forms\u0007\u202e.', 'Step 1'));
    put('.claude/skills/pdf/scripts/fill.py', 'print()');
    put('.claude/skills/pdf/__pycache__/fill.pyc', 'x');
    put('.claude/skills/notes/README.md', 'no skill');
    put('.claude/skills/file.md', 'no skill');
    put('home/skills/pdf/SKILL.md', skill('of the user'));
    put('home/skills/mine/SKILL.md', skill('of the user'));
    const { found, skipped } = await readSkills([...places(), ...own('home')]);
    expect(skipped).toEqual([]);
    expect(found.map(({ name, description }) => [name, description])).toEqual([
      ['pdf', 'Fills forms .'],
      ['mine', 'of the user'],
    ]);
    expect(Object.keys(found[0]?.files ?? {})).toEqual(['SKILL.md', 'scripts/fill.py']);
    expect(found[1]?.files).toBeUndefined();
  });

  it('skips what it cannot use, and says why', async () => {
    put('.claude/skills/none/SKILL.md', 'no settings');
    put('.claude/skills/broken/SKILL.md', '---\ndescription: [\n---\n');
    put('.claude/skills/huge/SKILL.md', skill('x', 'y'.repeat(300_000)));
    put('.claude/skills/bad\u001b[31mname/SKILL.md', skill('x'));
    mkdirSync(join(root, '.claude/skills/folder/SKILL.md'), { recursive: true });
    mkdirSync(join(root, '.claude/skills/many'), { recursive: true });
    put('.claude/skills/many/SKILL.md', skill('x'));
    for (let file = 0; file < 201; file += 1) put(`.claude/skills/many/${file}`, '');
    const { found, skipped } = await readSkills(places());
    expect(found).toEqual([]);
    expect(skipped.map(({ path, reason }) => [path.split('/').at(-2), reason])).toEqual([
      ['bad\u001b[31mname', expect.stringContaining('letters')],
      ['broken', expect.stringContaining('YAML')],
      ['folder', expect.stringContaining('directory')],
      ['huge', expect.stringContaining('larger')],
      ['many', expect.stringContaining('200 files')],
      ['none', 'it has no description'],
    ]);
  });

  it('follows links inside the project, but not out of it, and opens no keys [P21]', async () => {
    put('outside/secret/SKILL.md', skill('stolen'));
    put('project/.agents/skills/good/SKILL.md', skill('good'));
    put('project/.ssh/id_rsa', skill('a key'));
    const folder = join(root, 'project/.claude/skills');
    mkdirSync(folder, { recursive: true });
    symlinkSync('../../.agents/skills/good', join(folder, 'good'));
    symlinkSync(join(root, 'outside/secret'), join(folder, 'secret'));
    mkdirSync(join(folder, 'key'));
    symlinkSync('../../../.ssh/id_rsa', join(folder, 'key/SKILL.md'));
    mkdirSync(join(folder, 'fifo'));
    execFileSync('mkfifo', [join(folder, 'fifo/SKILL.md')]);
    const project = join(root, 'project');
    const { found, skipped } = await readSkills([{ folder: join(project, '.claude'), project }]);
    expect(found.map(({ name }) => name)).toEqual(['good']);
    expect(skipped).toHaveLength(3);
    const user = await readSkills([{ folder: join(project, '.claude') }]);
    expect(user.found.map(({ name }) => name)).toContain('secret');
  });

  it('has another digest after any file changed', async () => {
    put('.claude/skills/a/SKILL.md', skill('a'));
    put('.claude/skills/a/x.py', '1');
    const digest = async () => (await readSkills(places())).found[0]?.digest;
    const first = await digest();
    expect(await digest()).toBe(first);
    put('.claude/skills/a/x.py', '2');
    expect(await digest()).not.toBe(first);
    put('.claude/skills/a/x.py', '1');
    put('.claude/skills/a/y.py', '');
    expect(await digest()).not.toBe(first);
  });
});

describe('readCommands', () => {
  it('names commands in subdirectories, and uses the first line without a description', async () => {
    put('.claude/commands/fix.md', '---\ndescription: Fixes\nargument-hint: [file]\n---\nFix $1');
    put('.claude/commands/git/save.md', '# Save\nCommit.');
    put('.claude/commands/notes.txt', 'no');
    const { found } = await readCommands(places());
    expect(found).toMatchObject([
      { name: 'fix', description: 'Fixes', argumentHint: '[file]', body: 'Fix $1' },
      { name: 'git:save', description: '# Save', body: '# Save\nCommit.' },
    ]);
  });

  it.each([
    ['Fix $1 and $2.', 'a "b c"', 'Fix a and b c.'],
    ['Fix $ARGUMENTS', 'a  $1 $&', 'Fix a  $1 $&'],
    ['Costs $10, $3', 'x', 'Costs $10, '],
    ['Fix it', 'now', 'Fix it\n\nnow'],
    ['Status: !`rm -rf /`', '', 'Status: !`rm -rf /`'],
  ])('expands %j with %j', (body, given, expected) => {
    expect(expandCommand({ body }, given)).toBe(expected);
  });
});

describe('readAgentDefinitions', () => {
  it('reads names, tools, the model and whether it only reads', async () => {
    put(
      '.claude/agents/a.md',
      '---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep\nmodel: inherit\n---\nYou review.',
    );
    put(
      '.claude/agents/b.md',
      '---\ndescription: B\ntools:\n  - read_file\nmodel: best\npermissionMode: plan\n---\n',
    );
    put('.claude/agents/c.md', '---\nname: "../x"\ndescription: C\nreadonly: true\n---\n');
    put('.claude/agents/d.md', '---\ndescription: D\ntools: { write: false }\n---\n');
    const { found, skipped } = await readAgentDefinitions(places());
    expect(found.map(({ digest: _, path: __, kind: ___, ...rest }) => rest)).toEqual([
      { name: 'reviewer', description: 'Reviews', instructions: 'You review.', tools: ['Read', 'Grep'] },
      { name: 'b', description: 'B', instructions: '', tools: ['read_file'], model: 'best', readOnly: true },
      { name: 'c', description: 'C', instructions: '', readOnly: true },
    ]);
    expect(skipped).toMatchObject([{ reason: 'its tools are not a list of names' }]);
  });
});

describe('definitionPlaces', () => {
  it('lists what exists, from the working directory up, then of the user, and never a directory twice', () => {
    const env = { HOME: join(root, 'home') };
    const names = (list: readonly DefinitionPlace[]) =>
      list.map(({ folder }) => folder.slice(root.length + 1));
    for (const path of ['a/b/.claude/skills', 'a/b/.cobbler/commands', 'a/.agents/skills', 'a/.opencode'])
      mkdirSync(join(root, path), { recursive: true });
    for (const path of ['home/.cobbler/skills', 'home/.config/opencode/agents', '.claude/skills'])
      mkdirSync(join(root, path), { recursive: true });
    const { project, user } = definitionPlaces({
      ...{ folder: join(root, 'a/b'), root: join(root, 'a'), env },
      names: ['.cobbler', '.agents', '.claude', '.config/opencode', '.opencode'],
    });
    expect(names(project)).toEqual(['a/b/.cobbler', 'a/b/.claude', 'a/.agents']);
    expect(names(user)).toEqual(['home/.cobbler', 'home/.config/opencode']);
    expect(definitionPlaces({ folder: join(root, 'home'), root: join(root, 'home'), env }).project).toEqual(
      [],
    );
  });
});

describe('skillTool', () => {
  it('lists 100 skills in fewer than 4,000 tokens, and all names of 500', () => {
    const many = (count: number): SkillDefinition[] =>
      Array.from({ length: count }, (_, at) => ({
        ...{ name: `skill-number-${at}`, description: 'what it does. '.repeat(70), path: '', digest: '' },
        ...{ kind: 'skill' as const, folder: '', body: '' },
      }));
    const hundred = skillTool(many(100));
    expect(prefixTokens([], [hundred])).toBeLessThan(4000);
    expect(hundred.description).toContain('- skill-number-99: what it does.');
    const all = skillTool(many(500));
    expect(prefixTokens([], [all])).toBeLessThan(4000);
    expect(all.description).toContain('- skill-number-499');
  });

  it('returns the text, and only files that are in the folder [P21]', async () => {
    put('home/skills/a/SKILL.md', skill('a', 'Step 1'));
    put('home/skills/a/ref/more.md', 'more');
    put('home/secret', 'secret');
    symlinkSync(join(root, 'home/secret'), join(root, 'home/skills/a/link'));
    const tool = skillTool((await readSkills(own('home'))).found);
    expect(await call(tool, { name: 'a' })).toBe(
      `Step 1\n\nFolder of the skill: ${join(root, 'home/skills/a')}\nFiles, which this tool can read:\nref/more.md`,
    );
    expect(await call(tool, { name: 'a', file: 'ref/more.md' })).toBe('more');
    expect([tool.subject?.({ name: 'a' }), tool.subject?.({ name: 'a', file: 'x.md' })]).toEqual([
      'a',
      'a/x.md',
    ]);
    for (const file of ['../../secret', '/etc/passwd', 'link', '.'])
      await expect(call(tool, { name: 'a', file })).rejects.toMatchObject({ code: 'not_found' });
    await expect(call(tool, { name: 'b' })).rejects.toThrow('There is no skill "b".');
  });

  it('returns nothing of a project that changed after it was read', async () => {
    put('.claude/skills/a/SKILL.md', skill('a', 'Step 1'));
    put('.claude/skills/a/x.md', 'x');
    const tool = skillTool((await readSkills(places())).found);
    put('.claude/skills/a/SKILL.md', skill('a', 'Step 2'));
    put('.claude/skills/a/x.md', 'y');
    put('.claude/skills/a/new.md', 'y');
    expect(await call(tool, { name: 'a' })).toContain('Step 1');
    await expect(call(tool, { name: 'a', file: 'x.md' })).rejects.toMatchObject({ code: 'changed' });
    await expect(call(tool, { name: 'a', file: 'new.md' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
