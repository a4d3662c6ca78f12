import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** Callbacks that run right before and right after a file is opened. */
const around = { before: () => {}, after: () => {} };

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const open = async (...args: Parameters<typeof real.open>): Promise<FileHandle> => {
    around.before();
    return await real.open(...args).finally(() => around.after());
  };
  return { ...real, open };
});

// Other test files of this worker have loaded the module without the mock.
vi.resetModules();
const { HeldDirectory, Workspace } = await import('@cobbler/agent/node');
afterAll(() => vi.resetModules());

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'held-'));
  for (const name of ['inside', 'outside']) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'a.txt'), name);
  }
});

afterEach(() => {
  around.before = () => {};
  around.after = () => {};
  rmSync(root, { recursive: true, force: true });
});

function swap(): void {
  renameSync(join(root, 'inside'), join(root, 'moved'));
  symlinkSync('outside', join(root, 'inside'));
}

function swapBack(): void {
  unlinkSync(join(root, 'inside'));
  renameSync(join(root, 'moved'), join(root, 'inside'));
}

describe('a held directory', () => {
  it('detects that its path was replaced while it opened a file [P21]', async () => {
    const held = await HeldDirectory.open(join(new Workspace(root).root, 'inside'), 'path');
    around.before = swap;
    around.after = swapBack;
    await expect(held.file('a.txt')).rejects.toMatchObject({ code: 'ESTALE' });
    await expect(held.create('new.txt', 0o600)).rejects.toMatchObject({ code: 'ESTALE' });
  });

  it('is not affected by a replaced path if it uses a descriptor [P21]', async () => {
    if (process.platform !== 'linux') return;
    const held = await HeldDirectory.open(join(root, 'inside'), 'descriptor');
    around.before = swap;
    around.after = swapBack;
    const handle = await held.file('a.txt');
    expect(await handle.readFile('utf8')).toBe('inside');
    await handle.close();
    await held.close();
  });

  it('opens a FIFO without waiting for a writer, so that it can be rejected [P21]', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const workspace = new Workspace(root);
    const held = await workspace.openDirectory('.');
    await expect(workspace.openEntry(held, 'fifo', 'fifo')).rejects.toMatchObject({ code: 'special' });
    await held.close();
  });
});
