import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Executor } from '@cobbler/agent';
import { loadAgent, readAgentFolder } from '@cobbler/agent/definitions';
import { scriptedAgent } from '@cobbler/agent/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-agent-')));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes the files of an agent; those without a text are removed. */
function put(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries({ 'instructions.md': 'Help.', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const shout = `export default {
  description: 'Shouts.', effect: 'read',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: ({ text }: { text: string }) => text.toUpperCase(),
};`;

const unusedIn = async (files: Readonly<Record<string, string>>) =>
  (await readAgentFolder(put(files))).unused;

describe('loadAgent', () => {
  it('gives an executor the instructions, the tools and the skills of a folder', async () => {
    const agent = await loadAgent(
      put({
        'instructions.md': '---\ndescription: Helps\nmodel: fast\ntools: read_file, list_files\n---\nHelp.\n',
        'tools/shout.ts': shout,
        'skills/pdf/SKILL.md': '---\ndescription: Reads PDFs\n---\nRead.',
        'agents/critic.md': '---\ndescription: Criticizes\n---\nCriticize.',
        'README.md': 'About.',
        '.env': 'A=1',
      }),
    );
    expect(agent).toMatchObject({
      ...{ folder: root, description: 'Helps', instructions: 'Help.', model: 'fast', unused: [] },
      hostTools: ['read_file', 'list_files'],
      skills: [{ name: 'pdf' }],
      agents: [{ name: 'critic', instructions: 'Criticize.' }],
    });
    expect(agent.options.tools.map(({ name }) => name)).toEqual(['shout', 'skill']);
    const calls = [{ name: 'shout', arguments: { text: 'hi' } }];
    const executor = new Executor({ agent: scriptedAgent([{ calls }, 'Done.']), ...agent.options });
    const { messages } = await executor.run('Shout.');
    expect(messages[2]?.content).toMatchObject([{ text: 'HI' }]);
  });

  it('loads modules only with the function that it gets', async () => {
    const urls: string[] = [];
    const importModule = async (url: string) => {
      urls.push(url);
      return { default: { name: 'other', description: 'A tool.', execute: () => 1 } };
    };
    const { tools } = await loadAgent(put({ 'tools/a.mjs': 'throw 1;' }), { importModule });
    expect([urls, tools.map(({ name }) => name)]).toEqual([[`file://${root}/tools/a.mjs`], ['other']]);
  });

  it.each([
    ['no folder', 'nowhere', 'nowhere is not an agent: it does not contain instructions.md.'],
    ['no instructions', '.', ' is not an agent: it does not contain instructions.md.'],
  ])('rejects %s', async (_, folder, message) => {
    const error = { kind: 'invalid', code: 'agent_folder', message: expect.stringContaining(message) };
    await expect(loadAgent(join(root, folder))).rejects.toMatchObject(error);
  });

  it.each([
    ['empty instructions', { 'instructions.md': '---\nmodel: a\n---\n' }, 'instructions.md: it is empty'],
    [
      'a bad list of tools',
      { 'instructions.md': '---\ntools: { a: b }\n---\nHi' },
      'its tools are not a list',
    ],
    ['a syntax error', { 'tools/a.ts': 'const a = 1;\nexport default {,' }, 'tools/a.ts:2: '],
    [
      'an error of an imported module',
      { 'tools/a.ts': "import './b/c.ts';", 'tools/b/c.ts': '\n\nthrow new Error("No.")' },
      'tools/b/c.ts:3: No.',
    ],
    [
      'a missing package',
      { 'tools/a.ts': "\nimport x from '@my/pack/sub';\nexport default x;" },
      'tools/a.ts:2: the package @my/pack is not installed. Install it: npm install --prefix',
    ],
    [
      'no tool',
      { 'tools/a.ts': 'export const a = 1;' },
      'tools/a.ts: it exports no tool: use export default',
    ],
    [
      'an unknown field',
      { 'tools/a.ts': "export default {\n description: '', run: () => 1 };" },
      'tools/a.ts:1: definition',
    ],
    ['a name of another part', { 'tools/skill.ts': shout }, 'the name skill is taken'],
    ['a name of an MCP server', { 'tools/mcp__x__y.ts': shout }, 'the name mcp__x__y is taken'],
    [
      'a name that two tools have',
      { 'tools/a.ts': shout, 'tools/a.js': shout.replace(/: {.*}\)/, ')') },
      'another file has a tool named a',
    ],
    ['broken JSON', { 'mcp.json': '{\n "mcpServers": {,' }, 'mcp.json:2: '],
    [
      'an unknown field in mcp.json',
      { 'mcp.json': '{ "servers": {} }' },
      'mcp.json: it has an unknown field "servers"',
    ],
    [
      'an invalid server',
      { 'mcp.json': '{ "mcpServers": { "a": {} } }' },
      'mcp.json: mcpServers entry "a" must have',
    ],
  ])('rejects %s, and says where it is', async (_, files, message) => {
    const error = { kind: 'invalid', code: 'agent_folder', message: expect.stringContaining(message) };
    await expect(loadAgent(put(files as Record<string, string>))).rejects.toMatchObject(error);
  });

  it('starts the programs of mcp.json in the folder', async () => {
    const servers = {
      a: { type: 'stdio', command: 'node', cwd: 'sub' },
      b: { type: 'http', url: 'https://x.test' },
      c: { command: 'c' },
    };
    const { mcp } = await loadAgent(put({ 'mcp.json': JSON.stringify({ mcpServers: servers }) }));
    expect(mcp).toEqual({
      a: { command: 'node', cwd: join(root, 'sub') },
      b: { url: 'https://x.test' },
      c: { command: 'c', cwd: root },
    });
  });
});

describe('readAgentFolder', () => {
  it('says why a file is not used', async () => {
    const unused = await unusedIn({
      'instructions.md': '---\nstyle: short\n---\nHelp.',
      'tools/lib/a.ts': 'throw 1;',
      'tools/a.test.ts': 'throw 1;',
      'tools/notes.txt': '',
      'skills/old/SKILL.md': 'No description.',
      'channels/notes.md': '',
      'schedules/daily.txt': '',
      'evals/one.yaml': '',
      'src/x.ts': '',
    });
    expect(unused.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
      'instructions.md: it has an unknown setting style. Known: description, model, tools',
      'tools/a.test.ts: tests and declarations are not tools',
      'tools/lib: only files directly in tools are tools, but they can import from it',
      'tools/notes.txt: tools are .ts, .js, .mts or .mjs files',
      'skills/old/SKILL.md: it has no description',
      'schedules/daily.txt: schedules are .md files',
      'evals/one.yaml: evals are .jsonl files',
      'channels/notes.md: channels are telegram.json, and .ts, .js, .mts or .mjs files',
      'src: it is not part of an agent, but tools can import it',
    ]);
    expect(unused.filter(({ isBroken }) => isBroken)).toEqual([]);
  });

  it('lists broken files beside those that work', async () => {
    const { tools, unused } = await readAgentFolder(
      put({ 'tools/a.ts': shout, 'tools/b.ts': '\nthrow new Error("No.");' }),
    );
    expect(tools.map(({ name }) => name)).toEqual(['a']);
    expect(unused).toEqual([{ path: 'tools/b.ts', line: 2, reason: 'No', isBroken: true }]);
  });
});
