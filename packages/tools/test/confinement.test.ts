import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workspaceTools } from '../src/index.ts';
import type { Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;
let tools: Map<string, Tool>;

beforeEach(() => {
  box = sandbox({ 'src/a.txt': 'one\n' });
  tools = new Map(workspaceTools({ root: box.root, sandbox: 'off' }).map((tool) => [tool.name, tool]));
});

afterEach(() => box.remove());

function tool(name: string): Tool {
  const found = tools.get(name);
  if (found === undefined) throw new Error(`Unknown tool: ${name}.`);
  return found;
}

/** Each tool, with a function that returns its arguments for a path. */
const calls: [string, (path: string) => Record<string, unknown>][] = [
  ['read_file', (path) => ({ path })],
  ['write_file', (path) => ({ path, content: 'overwritten' })],
  ['edit_file', (path) => ({ path, old_text: 'secret', new_text: 'overwritten' })],
  ['list_files', (path) => ({ path })],
  ['search_files', (path) => ({ path, pattern: 'secret' })],
  ['run_command', (path) => ({ directory: path, command: 'cat *; touch made' })],
];

describe.each(calls)('%s', (name, args) => {
  async function isRefused(path: string, code: RegExp): Promise<void> {
    const { text, isError, error } = await call(tool(name), args(path));
    expect(isError).toBe(true);
    expect(error?.code).toMatch(code);
    expect(text).not.toContain(box.area);
    expect(text).not.toMatch(/[\n\0]/);
    expect(readFileSync(join(box.outside, 'secret.txt'), 'utf8')).toBe('secret');
    expect(readdirSync(box.outside)).toEqual(['secret.txt']);
  }

  it.each([
    '../outside',
    '../outside/secret.txt',
    '/etc',
    '/etc/passwd',
    '..',
    '/',
    '/proc/self',
    'src/../../outside',
  ])('refuses %s [P21]', async (path) => await isRefused(path, /^outside$/));

  it('refuses links to a directory or file outside, and new files behind such links [P21]', async () => {
    symlinkSync(box.outside, join(box.root, 'folder'));
    symlinkSync(join(box.outside, 'secret.txt'), join(box.root, 'file'));
    symlinkSync(join(box.outside, 'made'), join(box.root, 'dangling'));
    for (const path of ['folder', 'folder/secret.txt', 'folder/made', 'folder/a/b', 'file', 'dangling']) {
      await isRefused(path, /^outside$/);
    }
  });

  it('refuses the absolute path of a directory outside [P21]', async () => {
    await expect(call(tool(name), args(box.outside))).resolves.toMatchObject({ error: { code: 'outside' } });
    expect(readdirSync(box.outside)).toEqual(['secret.txt']);
  });

  it('reports unusual paths on one line [P10]', async () => {
    await isRefused('a\0b', /^not_found$/);
    await isRefused('x'.repeat(5000), /^not_found$/);
    await isRefused('no\nsuch/../../outside\n', /^outside$/);
  });
});

describe('the tools of a workspace', () => {
  it('refuse FIFOs without waiting for a writer [P21]', async () => {
    execFileSync('mkfifo', [join(box.root, 'fifo')]);
    for (const name of ['read_file', 'write_file', 'edit_file']) {
      const args = calls.find(([one]) => one === name)?.[1]('fifo') ?? {};
      expect((await call(tool(name), args)).text).toBe('"fifo" is not a regular file but a FIFO.');
    }
    expect((await call(tool('search_files'), { pattern: 'one' })).text).toContain('1: one');
    expect((await call(tool('list_files'), {})).text).toContain('fifo (special)');
  });

  it('neither list nor search through links that lead outside [P21]', async () => {
    symlinkSync(box.outside, join(box.root, 'folder'));
    symlinkSync('/etc', join(box.root, 'src', 'etc'));
    expect((await call(tool('list_files'), { include_ignored: true })).text).toBe(
      'folder (link)\nsrc/a.txt\nsrc/etc (link)',
    );
    expect((await call(tool('search_files'), { pattern: 'secret|root' })).text).toContain('No match');
  });

  it('pass the resolved path to permission rules [P21]', () => {
    mkdirSync(join(box.root, 'private'));
    symlinkSync('../private', join(box.root, 'src', 'public'));
    expect(tool('edit_file').subject?.({ path: 'src/public/x' })).toBe('private/x');
    expect(tool('write_file').subject?.({ path: 'src/../private/x' })).toBe('private/x');
    expect(tool('run_command').subject?.({ command: 'npm test\ncurl x' })).toBe('npm test\ncurl x');
  });

  it('declare their effects, and tools that change files lock the workspace [P9]', () => {
    expect(Object.fromEntries([...tools].map(([name, { effect }]) => [name, effect]))).toEqual({
      read_file: 'read',
      write_file: 'idempotent',
      edit_file: 'once',
      list_files: 'read',
      search_files: 'read',
      run_command: 'once',
    });
    const changing = [...tools.values()].filter(({ effect }) => effect !== 'read');
    expect(changing.every(({ locks }) => locks?.includes('workspace'))).toBe(true);
  });

  it('have a time limit of at most 605 seconds, with a default of two minutes [P2]', () => {
    for (const { name, timeoutMs } of tools.values()) {
      expect(timeoutMs ?? 120_000, name).toBeLessThanOrEqual(605_000);
    }
  });

  it('reject a root directory that does not exist', () => {
    expect(() => workspaceTools({ root: join(box.root, 'nowhere') })).toThrow(AgentError);
  });

  it('do not need zod: their schemas are plain JSON', () => {
    for (const { parameters } of tools.values())
      expect(JSON.parse(JSON.stringify(parameters))).toEqual(parameters);
  });
});
