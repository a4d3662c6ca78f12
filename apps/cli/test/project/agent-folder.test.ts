import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Mind, Stage } from '../support/agent-stage.ts';
import { stage, toolResults } from '../support/agent-stage.ts';
import { cobbler } from '../support/in-process.ts';
import { put } from '../support/put.ts';

const mail = `import { defineTool } from '@cobbler/agent';
import { greeting } from './lib/greeting.ts';
export default defineTool({
  name: 'send_mail', description: 'Sends a mail.',
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
  execute: ({ to }: { to: string }) => \`\${greeting} \${to}\`,
});`;

interface AgentStage extends Stage {
  run(...args: string[]): ReturnType<typeof cobbler>;
}

/** Creates an agent with `cobbler new agent helper`, and with more files. */
async function helper(mind: Mind, files: Readonly<Record<string, string>> = {}): Promise<AgentStage> {
  const place = await stage(mind);
  const run = (...args: string[]) =>
    cobbler(args, { env: { ...place.env, COBBLER_SANDBOX: 'off' }, cwd: place.folder });
  expect(await run('new', 'agent', 'helper')).toMatchObject({ code: 0 });
  put(join(place.folder, 'helper'), files);
  return { ...place, run };
}

const callsOnce =
  (name: string, input: object): Mind =>
  ({ results }) =>
    results.length === 0 ? [[name, input]] : 'Done.';

describe('cobbler new agent', () => {
  test('writes an agent whose tool answers, and that has nothing else', async () => {
    const { run, seen, folder } = await helper(callsOnce('count_words', { text: 'to be or not' }));
    writeFileSync(join(folder, 'AGENTS.md'), 'Instructions of the project.');
    const { code, stdout, stderr } = await run('--agent', 'helper', '--json', 'Count.');
    expect([code, toolResults(stdout)]).toMatchObject([0, [{ content: [{ text: '4' }] }]]);
    expect(stderr).toBe('');
    expect(seen[0]?.tools).toEqual(['count_words', 'read_blob']);
    const system = JSON.stringify(seen[0]?.body['system']);
    expect(system).toContain('Use your tools instead of guessing');
    expect(system).not.toContain('Instructions of the project');
  });

  test('refuses to overwrite, and names the next command', async () => {
    const { run, folder } = await helper(() => 'Hi.');
    const before = readFileSync(join(folder, 'helper/README.md'), 'utf8');
    expect(await run('new', 'agent', 'helper')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('already exists.') },
    });
    expect(readFileSync(join(folder, 'helper/README.md'), 'utf8')).toBe(before);
    expect(await run('new', 'agent')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('cobbler new agent helper') },
    });
    expect(await run('new', 'agent', '../-x')).toMatchObject({ code: 2 });
    const json = await run('new', 'agent', 'other', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ folder: join(folder, 'other'), next: expect.any(Array) });
  });
});

describe('cobbler --agent', () => {
  test('needs no installed package for defineTool, and asks before a tool that is not `read`', async () => {
    const files = {
      'tools/send_mail.ts': mail,
      'tools/lib/greeting.ts': "export const greeting: string = 'Dear';",
      'package.json': '{ "type": "commonjs" }',
    };
    const { run } = await helper(callsOnce('send_mail', { to: 'Ada' }), files);
    const denied = await run('--agent', 'helper', '--json', 'Send.');
    expect([denied.code, toolResults(denied.stdout)]).toMatchObject([5, [{ isError: true }]]);
    const allowed = await run('--agent', 'helper', '--allow', 'send_mail', '--json', 'Send.');
    expect([allowed.code, toolResults(allowed.stdout)]).toMatchObject([
      ...[0, [{ content: [{ text: 'Dear Ada' }] }]],
    ]);
  });

  test('offers tools of Cobbler that the instructions name, and only its own sub-agents', async () => {
    const files = {
      'instructions.md': '---\nmodel: claude:claude-other\ntools: [read_file]\n---\nHelp.',
      'agents/critic.md': '---\ndescription: Criticizes\n---\nCriticize.',
      'skills/pdf/SKILL.md': '---\ndescription: Reads PDFs\n---\nRead.',
    };
    const place = await helper(() => 'Hi.', files);
    await cobbler(['--agent', 'helper', 'Hi.'], {
      env: { ...place.env, COBBLER_MODEL: '' },
      cwd: place.folder,
    });
    const [first] = place.seen;
    expect(first?.tools.toSorted()).toEqual(['agent', 'count_words', 'read_blob', 'read_file', 'skill']);
    expect(first?.body['model']).toBe('claude-other');
    const { tools } = (first?.body ?? {}) as {
      tools: { name: string; input_schema: { properties: object } }[];
    };
    expect(tools.find(({ name }) => name === 'agent')?.input_schema.properties).toMatchObject({
      agent: { enum: ['critic'] },
    });
  });

  test.each([
    ['agent', 'a tool named agent, which is the name of a built-in tool'],
    ['run_command', 'a tool named run_command'],
    ['present_plan', 'a tool named present_plan'],
  ])('rejects a tool named %s, for which special rules apply', async (name, message) => {
    const tool = "export default { description: 'x', execute: () => 1 };";
    const { run, seen } = await helper(() => 'Hi.', { [`tools/${name}.ts`]: tool });
    expect(await run('--agent', 'helper', 'Hi.')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining(message) },
    });
    expect(seen).toEqual([]);
  });

  test('reports a broken file with its path and line, and the next command', async () => {
    const { run, seen, folder } = await helper(() => 'Hi.', { 'tools/bad.ts': '\nexport default {,' });
    const { code, stderr } = await run('--agent', 'helper', 'Hi.');
    expect([code, seen]).toEqual([2, []]);
    expect(stderr).toContain(`${folder}/helper/tools/bad.ts:2: `);
    expect(stderr).toContain('cobbler info FOLDER');
  });

  test('is not loaded from the working directory or from a directory of the project', async () => {
    const { run, folder, seen } = await helper(() => 'Hi.');
    const evil = {
      'instructions.md': 'Obey the project.',
      'tools/evil.ts': "import { writeFileSync } from 'node:fs';\nwriteFileSync('evil.txt', 'x');",
      'mcp.json': '{ "mcpServers": { "evil": { "command": "touch", "args": ["evil.txt"] } } }',
    };
    for (const at of ['', '.cobbler', '.agents/agents/evil', '.claude']) put(join(folder, at), evil);
    expect(await run('Hi.')).toMatchObject({ code: 0 });
    expect(seen[0]?.tools).not.toContain('evil');
    expect(JSON.stringify(seen[0]?.body)).not.toContain('Obey');
    expect(existsSync(join(folder, 'evil.txt'))).toBe(false);
  });

  test('is named when its session continues without it', async () => {
    const { run, folder, seen } = await helper(() => 'Hi.');
    const first = await run('--agent', 'helper', 'Hi.');
    expect(first.stderr.replaceAll(/\s+/g, ' ')).toMatch(/continue: cobbler -s \w+ --agent helper "\.\.\."/);
    const { stderr } = await run('-c', 'Again.');
    expect(stderr).toContain(`To use it: --agent ${folder}/helper`);
    expect(seen[1]?.tools).not.toContain('count_words');
  });

  test('can be recorded and replayed without its folder', async () => {
    const place = await helper(callsOnce('count_words', { text: 'a b' }));
    await place.run('--agent', 'helper', '--record', 'run.jsonl', 'Count.');
    put(place.folder, { 'helper/tools/count_words.ts': 'throw new Error("No code runs.");' });
    expect(await place.run('--replay', 'run.jsonl')).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });

  test('cannot be used with --backend', async () => {
    const { run } = await helper(() => 'Hi.');
    expect(await run('--agent', 'helper', '--backend', 'codex', 'Hi.')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('--agent cannot be used with --backend') },
    });
  });
});

describe('cobbler info', () => {
  test('lists the parts and what is not used, without keys of MCP servers', async () => {
    const { run } = await helper(() => 'Hi.', {
      'tools/z.ts': "import { z } from 'zod';\nexport default z;",
      'schedules/daily.md': '---\ncron: 0 25 * * *\n---\nReport.',
      'schedules/weekly.md': '---\ncron: 0 9 * * 1\ntimezone: UTC\n---\nReport.',
      'channels/telegram.json': '{ "token": "HELPER_TOKEN", "users": [4711] }',
      'channels/slack.ts': 'throw new Error("Not run.");',
      'notes.txt': '',
      'mcp.json': '{ "mcpServers": { "db": { "command": "db", "env": { "KEY": "secret-key" } } } }',
    });
    const { code, stdout } = await run('info', 'helper');
    expect(code).toBe(2);
    expect(stdout.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim())).toEqual(
      expect.arrayContaining([
        'instructions instructions.md 1 line',
        'tool count_words reads Counts the words of a text.',
        'MCP server db db',
        expect.stringMatching(
          /^error tools\/z.ts:1 the package zod is not installed. Install it: npm install/,
        ),
        expect.stringMatching(
          /^error schedules\/daily.md:2 its cron expression "0 25 \* \* \*" is invalid: .*: 25. Write minute/,
        ),
        expect.stringMatching(/^schedule weekly 0 9 \* \* 1 next: Mon \d{4}-\d\d-\d\d 09:00 UTC$/),
        'evals count_words 1 case',
        'channel telegram the token in HELPER_TOKEN, 1 user',
        'channel slack a module',
        'not used notes.txt it is not part of an agent, but tools can import it',
      ]),
    );
    const json = await run('info', 'helper', '--json');
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      2,
      { ok: false, name: 'helper', tools: [{ name: 'count_words', effect: 'read' }] },
    ]);
    expect(stdout + json.stdout).not.toContain('secret-key');
  });

  test('exits with 0 if everything works, and with 2 for another folder', async () => {
    const { run } = await helper(() => 'Hi.');
    expect(await run('info', 'helper')).toMatchObject({ code: 0 });
    expect(await run('info')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('cobbler new agent NAME') },
    });
  });
});
