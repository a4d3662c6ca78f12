import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { scriptedAgent } from '@cobbler/agent/testing';
import { workspaceTools } from '@cobbler/tools';
import { describe, expect, test } from 'vitest';
import { agentFace } from '../src/agents/agents.ts';
import { withReaders } from '../src/agents/open-agents.ts';
import { noAudit } from '../src/session/audit.ts';
import type { Call, Mind } from './support/agent-stage.ts';
import { eventsIn, isMain, stage, toolResults } from './support/agent-stage.ts';
import { invoke } from './support/in-process.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

describe('the tool agent', () => {
  test('gives a task to a sub-agent with its own instructions and only tools that read', async () => {
    const { seen, folder, env } = await stage((one) => {
      if (isMain(one))
        return one.results.length === 0
          ? [['agent', { agent: 'explore', task: 'Find the needle.' }]]
          : 'Found.';
      return one.results.length === 0 ? [['search_files', { pattern: 'needle' }]] : 'It is in notes.txt.';
    });
    const { code, stdout, stderr } = await invoke(['Where is it?'], { cwd: folder, env });
    expect([code, stdout]).toEqual([0, 'Found.\n']);
    expect(stderr).toMatch(/tool agent explore: Find the needle\. ok 1 call/);
    const [, child, , last] = seen;
    expect(child?.tools.toSorted()).toEqual([...['list_files', 'read_blob', 'read_file', 'search_files']]);
    expect(child?.task).toBe('Find the needle.');
    expect(JSON.stringify(child?.body['system'])).toContain('Change nothing.');
    expect(last?.results).toEqual([
      expect.stringContaining('[explore as-1: completed]\nIt is in notes.txt.'),
    ]);
  });

  test('runs several agents of one response at the same time, four at most, within the limits of the run', async () => {
    let [running, most] = [0, 0];
    const four = Promise.withResolvers<void>();
    const tasks = ['1', '2', '3', '4', '5'];
    const { folder, env } = await stage(async (one) => {
      if (isMain(one))
        return one.results.length === 0
          ? tasks.map((task): Call => ['agent', { agent: 'general', task }])
          : one.results.join(' ');
      running += 1;
      most = Math.max(most, running);
      if (running === 4) four.resolve();
      await four.promise;
      // A fifth one would arrive now.
      await new Promise((resolve) => setTimeout(resolve, 100));
      running -= 1;
      return `Did ${one.task}.`;
    });
    const { code, stdout } = await invoke(['Do it.'], { cwd: folder, env });
    expect([code, most]).toEqual([0, 4]);
    for (const task of tasks) expect(stdout).toContain(`Did ${task}.`);
  });

  test('charges sub-agents to the limits of the run, which refuse what would exceed them', async () => {
    const { seen, folder, env } = await stage((one) =>
      isMain(one) ? [['agent', { agent: 'explore', task: 'Look.' }]] : [['list_files', { path: '.' }]],
    );
    const limits = ['--max-tokens', '12000', '--max-repeats', 'never'];
    const { code, stdout } = await invoke(['--json', ...limits, 'Look.'], { cwd: folder, env });
    const spent = eventsIn(stdout).filter((event) => event.type === 'spent');
    expect(code).toBe(3);
    expect(seen.filter((one) => !isMain(one))).toHaveLength(spent.length);
    expect(seen.length * 1010).toBeLessThanOrEqual(12_000);
    expect(toolResults(stdout)[0]).toMatchObject({ isError: true, toolName: 'agent' });
    expect(JSON.stringify(toolResults(stdout)[0]?.content)).toContain('limit');
  });

  const writing: Mind = (one) => {
    if (isMain(one))
      return one.results.length === 0 ? [['agent', { agent: 'general', task: 'Write.' }]] : 'Done.';
    return one.results.length === 0 ? [['write_file', { path: 'new.txt', content: 'new\n' }]] : 'Written.';
  };

  test.each([
    ['y', true],
    ['n', false],
  ])('asks about each call of a sub-agent, and names it: %s', async (key, isWritten) => {
    const { folder, env } = await stage(writing);
    const { code, stderr } = await invoke(['Write it.'], { cwd: folder, env, keys: [key] });
    expect([code, existsSync(join(folder, 'new.txt'))]).toEqual([0, isWritten]);
    expect(stripVTControlCharacters(stderr)).toMatch(/write_file +new\.txt +for general, \+1/);
    expect(stderr.match(/deny with a reason/g)?.length).toBeGreaterThan(0);
  });

  test.each([
    ['--yes', true],
    ['--read-only', false],
    ['--ask', false],
  ])('gives sub-agents the permissions of the run: %s', async (mode, isWritten) => {
    const { seen, folder, env } = await stage(writing);
    await invoke([mode, 'Write it.'], { cwd: folder, env });
    expect(existsSync(join(folder, 'new.txt'))).toBe(isWritten);
    // The sub-agent learns why it may not.
    const [last] = seen.filter((one) => !isMain(one)).slice(-1);
    expect(last?.results[0]).toContain(isWritten ? 'new.txt' : mode === '--ask' ? 'no user' : 'read-only');
  });

  test('gives the conversation the commands that a sub-agent leaves running', async () => {
    const { seen, folder, env } = await stage((one) => {
      if (!isMain(one))
        return one.results.length === 0
          ? [['run_command', { command: 'echo up; sleep 60', background: true }]]
          : 'It is up.';
      const steps: readonly Call[] = [
        ['agent', { agent: 'general', task: 'Start the server.' }],
        ['background_command', { action: 'stop', id: 'bg1' }],
      ];
      const step = steps[one.results.length];
      return step === undefined ? 'Done.' : [step];
    });
    await invoke(['--yes', '--no-sandbox', 'Test it.'], { cwd: folder, env });
    expect(seen.at(-1)?.results.at(-1)).toMatch(/^\[bg1: cancelled, .*\n.*up/s);
  });

  test('does not let a sub-agent present a plan or change the to-do list, which belong to the conversation', async () => {
    const { seen, folder, env } = await stage((one) => {
      if (isMain(one))
        return one.results.length === 0 ? [['agent', { agent: 'general', task: 'Plan.' }]] : 'Done.';
      return one.results.length === 0 ? [['present_plan', { plan: 'Delete all.' }]] : 'Presented.';
    });
    const { stderr } = await invoke(['--plan', 'Do it.'], { cwd: folder, env, keys: ['y'] });
    expect(stderr).not.toContain('Delete all.');
    const [main, child] = seen;
    for (const name of ['present_plan', 'update_todos']) {
      expect(main?.tools).toContain(name);
      expect(child?.tools).not.toContain(name);
    }
  });

  test('does not tell a sub-agent about plan mode after the user has approved a plan', async () => {
    const { seen, folder, env } = await stage((one) => {
      if (!isMain(one)) return 'Done.';
      const steps: readonly Call[] = [
        ['present_plan', { plan: 'Write.' }],
        ['agent', { agent: 'general', task: 'Write.' }],
      ];
      const step = steps[one.results.length];
      return step === undefined ? 'Done.' : [step];
    });
    await invoke(['--plan', 'Do it.'], { cwd: folder, env, keys: ['y'] });
    const [child] = seen.filter((one) => !isMain(one));
    expect(JSON.stringify(child?.body['system'])).toContain('You are Cobbler');
    expect(JSON.stringify(child?.body['system'])).not.toContain('Plan mode');
  });

  test('offers agents whose names are those of programs or of properties of every object', async () => {
    const { seen, folder, env } = await stage((one) => {
      if (!isMain(one)) return `I am ${one.task}.`;
      const names = ['constructor', 'claude', 'codex'];
      return one.results.length === 0
        ? names.map((name): Call => ['agent', { agent: name, task: name }])
        : one.results.join(' ');
    });
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const name of ['claude', 'codex']) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
    mkdirSync(join(folder, '.claude', 'agents'), { recursive: true });
    for (const name of ['constructor', 'claude', 'codex'])
      writeFileSync(
        join(folder, '.claude', 'agents', `${name}.md`),
        '---\ndescription: One.\ntools: [toString]\nmodel: constructor\n---\nYou are one.',
      );
    const { stdout } = await invoke(['Do it.'], {
      cwd: folder,
      env: { ...env, PATH: `${bin}:${process.env['PATH']}` },
    });
    expect(JSON.stringify(seen[0]?.body['tools'])).toContain(
      '["general","explore","claude","codex","constructor"]',
    );
    expect(stdout).toContain('[claude as-');
    expect(stdout).toContain('[constructor as-');
  });

  test('continues an agent, waits for one in the background, and lists and stops agents', async () => {
    const steps: readonly (readonly Call[])[] = [
      [['agent', { agent: 'explore', task: 'First.' }]],
      [['agent', { id: 'as-1', task: 'Second.' }]],
      [['agent', { agent: 'general', task: 'Later.', background: true }]],
      [['agent', { id: 'as-2', action: 'wait' }]],
      [['agent', {}]],
      [['agent', { id: 'as-2', action: 'stop' }]],
      [['agent', { id: 'as-2' }]],
      [['agent', { task: 'For whom?' }]],
    ];
    const { seen, folder, env } = await stage((one) => {
      if (isMain(one)) return steps[one.results.length] ?? 'Done.';
      return `Answer to ${JSON.stringify(one.body['messages'])
        .match(/First|Second|Later/g)
        ?.join(' and ')}.`;
    });
    const { stdout } = await invoke(['--json', 'Go.'], { cwd: folder, env });
    const texts = seen.findLast(isMain)?.results;
    expect(texts).toEqual([
      '[explore as-1: completed]\nAnswer to First.',
      expect.stringMatching(/^\[explore as-1: completed\]\nAnswer to First and .*Second\.$/),
      '[general as-2: running]',
      '[general as-2: completed]\nAnswer to Later.',
      expect.stringMatching(/explore as-1: completed[\s\S]*general as-2: completed/),
      '[general as-2: destroyed]\nAnswer to Later.',
      'session as-2 not found',
      'To start an agent, pass `agent` and `task`.',
    ]);
    expect(eventsIn(stdout).filter((event) => event.type === 'spent')).toHaveLength(3);
  });

  test('is not offered with --no-agents, nor with --tools that do not name it', async () => {
    const { seen, folder, env } = await stage(() => 'Done.');
    await invoke(['Go.'], { cwd: folder, env });
    await invoke(['--no-agents', 'Go.'], { cwd: folder, env });
    await invoke(['--tools', 'read_file', 'Go.'], { cwd: folder, env });
    await invoke(['--tools', 'read_file,agent', 'Go.'], { cwd: folder, env });
    expect(seen.map(({ tools }) => tools.includes('agent'))).toEqual([true, false, false, true]);
    expect(JSON.stringify(seen[0]?.body['tools'])).not.toContain('Claude Code');
    const { code, stderr } = await invoke(['--delegate', 'gpt', 'Go.'], { cwd: folder, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('unknown program "gpt"')]);
  });

  test('offers programs that are installed, unless --delegate chooses others', async () => {
    const { seen, folder, env } = await stage(() => 'Done.');
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), '', { mode: 0o755 });
    const cwd = folder;
    await invoke(['Go.'], { cwd, env: { ...env, PATH: bin } });
    await invoke(['--delegate', 'codex', 'Go.'], { cwd, env: { ...env, PATH: bin } });
    await invoke(['--delegate', 'none', 'Go.'], { cwd, env: { ...env, PATH: bin } });
    const names = seen.map(({ body }) => {
      const tools = body['tools'] as { name: string; input_schema: { properties: Record<string, object> } }[];
      return tools.find(({ name }) => name === 'agent')?.input_schema.properties['agent'];
    });
    const enumOf = (...programs: string[]) => ({ type: 'string', enum: ['general', 'explore', ...programs] });
    expect(names).toEqual([enumOf('claude'), enumOf('codex'), enumOf()]);
  });

  test('is not in a recording, whose replay is the same run', async () => {
    const { seen, folder, env } = await stage(() => 'Done.');
    const file = join(folder, 'run.cassette');
    await invoke(['--record', file, 'Go.'], { cwd: folder, env });
    const { code, stdout } = await invoke(['--replay', file], { cwd: folder, env });
    expect([code, stdout, seen.map(isMain)]).toEqual([0, 'Done.\n', [false]]);
    expect(readFileSync(file, 'utf8')).not.toContain('"agent"');
  });
});

test('the agents of the assistant only read, so that starting one needs no approval', () => {
  const agent = scriptedAgent([]);
  const files = workspaceTools({ root: temporaryFolder(), sandbox: 'off' });
  const parts = { agent, pricing: () => undefined, folder: '.', audit: noAudit, env: {} };
  const tool = withReaders([...files, agentFace], parts).at(-1);
  expect(tool).toMatchObject({ name: 'agent', effect: 'read', sends: false });
  expect(JSON.stringify(tool?.parameters)).toContain('"enum":["explore"]');
  expect(withReaders(files, parts)).toBe(files);
});
