import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workspaceTools } from '../src/index.ts';
import type { Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

const secrets = {
  '.cobbler/server-tokens.json': 'secret',
  '.cobbler/config.yaml': 'secret',
  '.cobbler/trusted-rules.json': 'secret',
  '.ssh/id_ed25519': 'secret',
  '.aws/credentials': 'secret',
  '.config/gh/hosts.yml': 'secret',
  '.netrc': 'secret',
};

let box: Sandbox;

beforeEach(() => {
  box = sandbox({ ...secrets, 'src/a.txt': 'secret in the open\n', '.config/app.json': '{}' });
});

afterEach(() => box.remove());

/** Returns tools for a workspace that is the home directory unless `environment` names another. */
function toolsIn(environment: Record<string, string> = { HOME: box.root }): Map<string, Tool> {
  const tools = workspaceTools({ root: box.root, sandbox: 'off', environment });
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function tool(name: string, tools = toolsIn()): Tool {
  const found = tools.get(name);
  if (found === undefined) throw new Error(`Unknown tool: ${name}.`);
  return found;
}

const onPath: [string, (path: string) => Record<string, unknown>][] = [
  ['read_file', (path) => ({ path })],
  ['write_file', (path) => ({ path, content: 'overwritten' })],
  ['edit_file', (path) => ({ path, old_text: 'secret', new_text: 'overwritten' })],
  ['search_files', (path) => ({ path, pattern: 'secret' })],
];

describe('sealed paths', () => {
  it.each(onPath)('%s cannot access Cobbler’s own files or keys [P21]', async (name, args) => {
    symlinkSync('.ssh', join(box.root, 'notes'));
    const paths = [...Object.keys(secrets), 'notes/id_ed25519', 'src/../.ssh/id_ed25519'];
    for (const path of paths) {
      const { error, text } = await call(tool(name), args(path));
      expect(error?.code, path).toBe('sealed');
      expect(text).not.toContain(box.area);
    }
    for (const path of Object.keys(secrets)) expect(box.read(path)).toBe('secret');
  });

  it.each(['.SSH/new', '.s\u200dsh/new', '.ssh./new', 'SSH~1/new', '.Cobbler/new'])(
    'write_file refuses %j, which some file systems treat as a sealed directory [P21]',
    async (path) => {
      const { error } = await call(tool('write_file'), { path, content: 'x' });
      expect(error?.code).toBe('sealed');
    },
  );

  it('search_files and list_files omit sealed paths [P21]', async () => {
    const found = await call(tool('search_files'), { pattern: 'secret', include_ignored: true });
    expect(found.text).toContain('src/a.txt');
    expect(found.text).not.toMatch(/\.ssh|\.cobbler|\.netrc|gh/);
    const listed = await call(tool('list_files'), { include_ignored: true });
    expect(listed.text).toBe('.config/app.json\nsrc/a.txt');
    expect((await call(tool('list_files'), { path: '.ssh' })).error?.code).toBe('sealed');
  });

  it('run_command does not start in a sealed directory [P21]', async () => {
    const { error } = await call(tool('run_command'), { command: 'cat *', directory: '.ssh' });
    expect(error?.code).toBe('sealed');
  });

  it('COBBLER_HOME is sealed, both directly and through a link to it [P21]', async () => {
    mkdirSync(join(box.root, 'data'));
    box.write('data/server-tokens.json', 'secret');
    symlinkSync('data', join(box.root, 'home-link'));
    const tools = toolsIn({ HOME: box.outside, COBBLER_HOME: join(box.root, 'home-link') });
    for (const path of ['data/server-tokens.json', 'home-link/server-tokens.json'])
      expect((await call(tool('read_file', tools), { path })).error?.code).toBe('sealed');
    expect((await call(tool('read_file', tools), { path: 'src/a.txt' })).isError).toBe(false);
  });

  it('a project outside the home directory may have directories with the same names', async () => {
    box.write('.docker/Dockerfile', 'FROM scratch');
    const tools = toolsIn({ HOME: box.outside });
    expect((await call(tool('read_file', tools), { path: '.docker/Dockerfile' })).isError).toBe(false);
  });
});

const guarded = [
  ...['.git/hooks/pre-commit', '.git/config', '.envrc', '.husky/pre-commit', '.vscode/tasks.json'],
  ...['.mcp.json', '.claude/settings.json', '.github/workflows/ci.yml', 'AGENTS.md', '.yarnrc.yml'],
  ...['sub/.cobbler/config.yaml', 'sub/deep/.git/config', 'sub/AGENTS.md', '.npmrc', '.gitattributes'],
  ...['.GIT/config', '.g\u200cit/config', '.git./config', '.git /config', 'GIT~1/config', '.git::$INDEX/x'],
  ...['CLAUDE~1.MD', '.bashrc', 'sub/HEAD', 'sub/commondir', '.gitlab-ci.yml', 'MCP~1.JSO'],
];

describe('guarded paths', () => {
  function mustAsk(name: string, path: string): string | undefined {
    return tool(name, toolsIn({ HOME: box.outside })).mustAsk?.({ path });
  }

  it.each(guarded)('a write to %j requires approval [P21]', (path) => {
    for (const name of ['write_file', 'edit_file'])
      expect(mustAsk(name, path), name).toContain('is protected');
  });

  it.each([
    'src/a.txt',
    'git/config',
    'docs/agents.txt',
    'src/head/index.ts',
    'package.json',
    '.gitignore',
    'x~1',
  ])('a write to %j requires no additional approval', (path) => {
    for (const name of ['write_file', 'edit_file']) expect(mustAsk(name, path), name).toBeUndefined();
  });

  it('a path through a link is judged by its target [P21]', () => {
    mkdirSync(join(box.root, '.git', 'hooks'), { recursive: true });
    symlinkSync('.git', join(box.root, 'harmless'));
    symlinkSync(join('..', '.git', 'config'), join(box.root, 'src', 'settings.txt'));
    box.write('.git/config', '');
    expect(mustAsk('write_file', 'harmless/hooks/pre-commit')).toContain('.git/hooks/pre-commit');
    expect(mustAsk('edit_file', 'src/settings.txt')).toContain('.git/config');
  });

  it('a git directory with another name is protected if a gitdir file or its content reveals it [P21]', () => {
    box.write('store/HEAD', 'ref: refs/heads/main\n');
    mkdirSync(join(box.root, 'store', 'objects'));
    mkdirSync(join(box.root, 'store', 'refs'));
    box.write('.git', 'gitdir: store\n');
    expect(mustAsk('write_file', 'store/hooks/post-checkout')).toContain('is protected');
    box.write('tree/HEAD', 'ref: refs/heads/main\n');
    box.write('tree/commondir', '../store\n');
    expect(mustAsk('write_file', 'tree/config.worktree')).toContain('is protected');
  });

  it('the reason for the approval says that the path is protected', async () => {
    const write = tool('write_file', toolsIn({ HOME: box.outside }));
    expect(readFileSync(join(box.root, 'src/a.txt'), 'utf8')).toContain('secret');
    expect(write.mustAsk?.({ path: '.envrc', content: 'x' })).toBe(
      '".envrc" is protected: other programs execute ".envrc" or take instructions from it.',
    );
  });
});
