import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeldDirectory, Workspace } from '@cobbler/agent/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

/** Callbacks that run right before and right after a file is opened. */
const around = { before: () => {}, after: () => {} };

beforeAll(() => {
  const { open } = files;
  vi.spyOn(files, 'open').mockImplementation(async (...args) => {
    around.before();
    return await open(...args).finally(() => around.after());
  });
  syncBuiltinESMExports();
});

afterAll(() => {
  vi.mocked(files.open).mockRestore();
  syncBuiltinESMExports();
});

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
