import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Workspace } from '@cobbler/agent/node';
import { workspaceTools } from '@cobbler/tools';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Permission } from '../../apps/cli/src/permissions/permission.ts';

let root: string;
let home: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'attack-')));
  home = join(root, 'home');
  for (const name of ['.git/hooks', '.github/workflows', 'src', 'home/.ssh', 'home/.aws', 'home/.cobbler'])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ['home/.ssh/id', 'home/.aws/credentials', 'home/.cobbler/config.yaml'])
    writeFileSync(join(root, name), 'secret');
  symlinkSync('.git', join(root, 'docs'));
  symlinkSync('home', join(root, 'notes'));
});

afterEach(() => rmSync(root, { recursive: true }));

/** A check of the path as it is written: the version without the defence. */
function isNamed(path: string, names: readonly string[]): boolean {
  return path.split('/').some((name) => names.includes(name));
}

describe('a write to a guarded file needs no approval', () => {
  const names = ['.git', '.github', '.husky', '.vscode', '.envrc', '.npmrc', '.mcp.json', 'AGENTS.md'];

  test.each([
    ['through a link', 'docs/hooks/pre-commit'],
    ['with capital letters', '.GIT/hooks/pre-commit'],
    ['in another case', 'agents.md'],
    ['in a mixed case', '.GitHub/workflows/ci.yml'],
    ['with an invisible character', '.g\u200dit/config'],
    ['with a soft hyphen', '.en\u00advrc'],
    ['with a dot at the end', '.git./config'],
    ['with a blank at the end', '.npmrc '],
    ['by a short name', 'GIT~1/config'],
    ['by a stream', '.envrc:x'],
    ['in a bare repository', 'src/HEAD'],
    ['by commondir', 'src/commondir'],
    ['by the configuration of Claude', '.claude/settings.json'],
    ['by the configuration of Codex', '.codex/config.toml'],
    ['by the memory of Claude', 'src/CLAUDE.md'],
    ['by a shell start file', 'src/.bashrc'],
  ])('%s', (_what, path) => {
    expect(isNamed(path, names)).toBe(false);
    const tools = workspaceTools({ root, sandbox: 'off', environment: { HOME: home } });
    const write = tools.find(({ name }) => name === 'write_file');
    const mustAsk = write?.mustAsk?.({ path, content: 'evil' });
    expect(mustAsk).toBeDefined();
    const call = { toolName: 'write_file', subject: path, effect: 'once', arguments: { path } } as const;
    for (const mode of ['ask', 'edits', 'yes'] as const) {
      const permission = new Permission(mode, [`write_file(${path})`, 'write_file', '*'], true);
      expect(permission.decide({ ...call, mustAsk: mustAsk ?? '' }).type, mode).toBe('ask');
    }
  });

  test.each([
    ['.github', '.git/config', true],
    ['.github', '.github/workflows/ci.yml', false],
    ['docs', 'docs/hooks/pre-commit', true],
    ['.git/hooks', '.git/config', true],
    ['.git/hook', '.git/hooks/x', true],
    ['.github/../.git', '.github/x', true],
    ['src', '.envrc', true],
  ])('--allow-guarded %s for %s', (allowed, path, asks) => {
    const workspace = new Workspace(root, { env: { HOME: home }, allowGuarded: [allowed] });
    expect(workspace.mustAsk(path) !== undefined).toBe(asks);
  });
});

describe('a sealed file is read', () => {
  test.each([
    ['by its name', 'home/.ssh/id'],
    ['through a link', 'notes/.ssh/id'],
    ['with dots', 'src/../home/.ssh/id'],
    ['another key', 'home/.aws/credentials'],
    ['the rules that the user accepted', 'home/.cobbler/config.yaml'],
  ])('%s', async (_what, path) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe('secret');
    const workspace = new Workspace(root, { env: { HOME: home } });
    await expect(workspace.openFile(path)).rejects.toMatchObject({ code: 'sealed' });
  });
});
