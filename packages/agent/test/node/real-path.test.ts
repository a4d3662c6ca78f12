import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AgentError } from '@cobbler/agent';
import type { Anchor } from '@cobbler/agent/node';
import { HeldDirectory, Workspace } from '@cobbler/agent/node';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

const anchors: Anchor[] = process.platform === 'linux' ? ['descriptor', 'path'] : ['path'];

describe.each(anchors)('the workspace guard, by %s', (anchor) => {
  let area: string;
  let root: string;
  let workspace: Workspace;

  beforeEach(() => {
    area = mkdtempSync(join(tmpdir(), 'guard-'));
    root = join(area, 'root');
    mkdirSync(join(root, 'src'), { recursive: true });
    mkdirSync(join(area, 'outside'));
    writeFileSync(join(root, 'src', 'a.txt'), 'inside');
    writeFileSync(join(area, 'outside', 'a.txt'), 'secret');
    workspace = new Workspace(root, { anchor });
  });

  afterEach(() => rmSync(area, { recursive: true, force: true }));

  async function read(path: string): Promise<string> {
    const { handle } = await workspace.openFile(path);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  }

  async function problemOf(action: Promise<unknown>): Promise<AgentError> {
    const error: unknown = await action.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!AgentError.is(error)) throw new Error(`Expected an AgentError, got ${String(error)}`);
    expect(error.kind).toBe('tool');
    expect(error.message).not.toContain(area);
    return error;
  }

  it('reads a relative path, an absolute path inside, and a path with .. that stays inside [P21]', async () => {
    expect(await read('src/a.txt')).toBe('inside');
    expect(await read(join(root, 'src/a.txt'))).toBe('inside');
    expect(await read('src/../src/./a.txt')).toBe('inside');
  });

  it.each(['../outside/a.txt', '../../../../../../../etc/passwd', '/etc/passwd', '/proc/self/environ', '..'])(
    'rejects %s as outside, whether it exists or not [P21]',
    async (path) => {
      expect((await problemOf(read(path))).code).toBe('outside');
      expect((await problemOf(workspace.write(path, 'x'))).code).toBe('outside');
      expect((await problemOf(read(`${path}/that-does-not-exist`))).code).toBe('outside');
    },
  );

  it('rejects a directory whose name only starts with that of the workspace [P21]', async () => {
    mkdirSync(`${root}-other`);
    writeFileSync(join(`${root}-other`, 'x'), 'secret');
    expect((await problemOf(read('../root-other/x'))).code).toBe('outside');
  });

  it('neither reads nor writes through a symbolic link to a file outside [P21]', async () => {
    symlinkSync(join(area, 'outside', 'a.txt'), join(root, 'link'));
    expect((await problemOf(read('link'))).code).toBe('outside');
    expect((await problemOf(workspace.write('link', 'overwritten'))).code).toBe('outside');
    expect(readFileSync(join(area, 'outside', 'a.txt'), 'utf8')).toBe('secret');
  });

  it('creates no file through a symbolic link to a directory outside [P21]', async () => {
    symlinkSync(join(area, 'outside'), join(root, 'folder'));
    expect((await problemOf(workspace.write('folder/new.txt', 'x'))).code).toBe('outside');
    expect((await problemOf(workspace.write('folder/deep/er/new.txt', 'x'))).code).toBe('outside');
    expect(readdirSync(join(area, 'outside'))).toEqual(['a.txt']);
  });

  it('creates no file through a dangling symbolic link [P21]', async () => {
    symlinkSync(join(area, 'outside', 'new.txt'), join(root, 'dangling'));
    expect((await problemOf(workspace.write('dangling', 'x'))).code).toBe('outside');
    expect((await problemOf(read('dangling'))).code).toBe('outside');
    expect(readdirSync(join(area, 'outside'))).toEqual(['a.txt']);
  });

  it('rejects a chain of symbolic links to the outside and a cycle [P21]', async () => {
    symlinkSync('second', join(root, 'first'));
    symlinkSync(join(area, 'outside', 'a.txt'), join(root, 'second'));
    symlinkSync('circle', join(root, 'circle'));
    expect((await problemOf(read('first'))).code).toBe('outside');
    expect((await problemOf(read('circle'))).code).toBe('outside');
  });

  it('follows a symbolic link that stays inside, and keeps it on write', async () => {
    symlinkSync('src', join(root, 'alias'));
    symlinkSync('src/a.txt', join(root, 'file-alias'));
    expect(await read('alias/a.txt')).toBe('inside');
    await workspace.write('file-alias', 'changed');
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('changed');
    expect(await workspace.locate('file-alias')).toBe('src/a.txt');
  });

  it('rejects /proc through a link inside [P21]', async () => {
    symlinkSync('/proc/self/environ', join(root, 'environ'));
    symlinkSync('/proc/self/root', join(root, 'slash'));
    expect((await problemOf(read('environ'))).code).toBe('outside');
    expect((await problemOf(read('slash/etc/passwd'))).code).toBe('outside');
  });

  it('rejects special files and directories without waiting [P21]', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer().listen(join(root, 'sock'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      for (const name of ['fifo', 'sock']) {
        expect((await problemOf(read(name))).code).toBe('special');
        expect((await problemOf(workspace.write(name, 'x'))).code).toBe('special');
      }
    } finally {
      server.close();
    }
    expect((await problemOf(read('src'))).code).toBe('is_directory');
    expect((await problemOf(read('.'))).code).toBe('is_directory');
    expect((await problemOf(workspace.write('src', 'x'))).code).toBe('is_directory');
  });

  it.each([
    ['an empty path', ''],
    ['a NUL in the path', 'a\0b'],
    ['a path of a million characters', 'a/'.repeat(500_000)],
    ['a name longer than the system allows', 'n'.repeat(300)],
  ])('reports %s as an error on one line', async (_, path) => {
    const { message } = await problemOf(read(path));
    expect(message).not.toMatch(/[\n\0]/);
    expect(message.length).toBeLessThan(600);
  });

  it('accepts newlines, quotes and a tilde in names', async () => {
    for (const name of ['two\nlines', '"quoted"', '~', '-rf', '$HOME', 'ö ünïcode 文件']) {
      await workspace.write(name, name);
      expect(await read(name)).toBe(name);
    }
  });

  it('reports a missing path and a path through a file differently from one outside', async () => {
    expect((await problemOf(read('nowhere/at/all'))).message).toBe('"nowhere/at/all" does not exist.');
    expect((await problemOf(read('src/a.txt/x'))).code).toBe('not_found');
    expect((await problemOf(workspace.write('src/a.txt/x', 'x'))).code).toBe('not_directory');
    expect((await problemOf(workspace.openDirectory('src/a.txt'))).code).toBe('not_directory');
  });

  it('creates missing directories on write and reports if the file is new', async () => {
    expect(await workspace.write('one/two/three.txt', 'x')).toEqual({ created: true });
    expect(await workspace.write('one/two/three.txt', 'y')).toEqual({ created: false });
    expect(readFileSync(join(root, 'one/two/three.txt'), 'utf8')).toBe('y');
    expect(readdirSync(join(root, 'one/two'))).toEqual(['three.txt']);
  });

  it('keeps the permissions of a file on write and leaves its hard links unchanged', async () => {
    const file = join(root, 'src/a.txt');
    chmodSync(file, 0o751);
    linkSync(file, join(area, 'outside', 'hard'));
    await workspace.write('src/a.txt', 'new');
    expect(statSync(file).mode & 0o777).toBe(0o751);
    expect(readFileSync(join(area, 'outside', 'hard'), 'utf8')).toBe('inside');
  });

  it('does not overwrite a file that changed after it was read', async () => {
    const { handle, stat } = await workspace.openFile('src/a.txt');
    await handle.close();
    writeFileSync(join(root, 'src/a.txt'), 'edited by hand');
    const failed = workspace.write('src/a.txt', 'ours', { unchangedSince: stat });
    expect((await problemOf(failed)).code).toBe('changed');
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('edited by hand');
    expect(readdirSync(join(root, 'src'))).toEqual(['a.txt']);
  });

  it('uses the real path as the subject for permission rules', () => {
    symlinkSync('src', join(root, 'alias'));
    expect(workspace.subject('alias/a.txt')).toBe('src/a.txt');
    expect(workspace.subject('alias/new/file')).toBe('src/new/file');
    expect(workspace.subject('src/../x')).toBe('x');
    expect(workspace.subject(root)).toBe('.');
    expect(workspace.subject('../outside/a.txt')).toBe('../outside/a.txt');
    expect(workspace.subject('a\0b')).toBe('a\0b');
  });

  it('does not leave a held directory whose path is replaced by a link [P21]', async () => {
    const held = await HeldDirectory.open(join(workspace.root, 'src'), anchor);
    renameSync(join(root, 'src'), join(root, 'moved'));
    symlinkSync(join(area, 'outside'), join(root, 'src'));
    const outcome = await held.file('a.txt').then(
      async (handle) => {
        const text = await handle.readFile('utf8');
        await handle.close();
        return text;
      },
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(outcome).toBe(anchor === 'descriptor' ? 'inside' : 'ESTALE');
    await held.close();
  });

  it('detects a directory replaced by a link between resolving and opening [P21]', async () => {
    for (const folder of [join(root, 'src', 'deep'), join(area, 'outside', 'deep')]) mkdirSync(folder);
    writeFileSync(join(area, 'outside', 'deep', 'b.txt'), 'secret');
    writeFileSync(join(root, 'src', 'deep', 'b.txt'), 'inside');
    const open = HeldDirectory.open;
    const swapped = vi.spyOn(HeldDirectory, 'open').mockImplementation(async (real, how) => {
      renameSync(join(root, 'src'), join(root, 'moved'));
      symlinkSync(join(area, 'outside'), join(root, 'src'));
      return await open.call(HeldDirectory, real, how).finally(() => {
        unlinkSync(join(root, 'src'));
        renameSync(join(root, 'moved'), join(root, 'src'));
      });
    });
    try {
      const code = anchor === 'descriptor' ? 'outside' : 'changed';
      expect((await problemOf(read('src/deep/b.txt'))).code).toBe(code);
      expect((await problemOf(workspace.write('src/deep/made', 'x'))).code).toBe(code);
      expect((await problemOf(workspace.directory('src/deep'))).code).toBe(code);
    } finally {
      swapped.mockRestore();
    }
    expect(readdirSync(join(area, 'outside', 'deep'))).toEqual(['b.txt']);
  });

  it('detects a directory replaced by a link during opening and during the first check [P21]', async () => {
    const { open, lstat } = promises;
    let isOpen = false;
    const whileSwapped = async <Result>(act: () => Promise<Result>): Promise<Result> => {
      renameSync(join(root, 'src'), join(root, 'moved'));
      symlinkSync(join(area, 'outside'), join(root, 'src'));
      return await act().finally(() => {
        unlinkSync(join(root, 'src'));
        renameSync(join(root, 'moved'), join(root, 'src'));
      });
    };
    const opens = vi.spyOn(promises, 'open').mockImplementation((path, ...rest) => {
      if (basename(String(path)) !== 'a.txt') return open(path, ...rest);
      isOpen = true;
      return whileSwapped(() => open(path, ...rest));
    });
    const checks = vi.spyOn(promises, 'lstat').mockImplementation(async (path) => {
      if (!isOpen) return await lstat(path);
      isOpen = false;
      return await whileSwapped(() => lstat(path));
    });
    syncBuiltinESMExports();
    try {
      if (anchor === 'descriptor') expect(await read('src/a.txt')).toBe('inside');
      else expect((await problemOf(read('src/a.txt'))).code).toBe('changed');
    } finally {
      opens.mockRestore();
      checks.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it('reads and writes nothing outside while a link keeps replacing a directory [P21]', async () => {
    const swapping = swapFolder(join(root, 'src'), join(area, 'outside'));
    const texts = new Set<string>();
    try {
      await swapping.started;
      for (let turn = 0; turn < 250 || swapping.count() <= 20; turn += 1) {
        await read('src/a.txt').then(
          (text) => texts.add(text),
          (error: unknown) => expect(AgentError.is(error)).toBe(true),
        );
        await workspace
          .write('src/made.txt', 'x')
          .catch((error: unknown) => expect(AgentError.is(error)).toBe(true));
      }
    } finally {
      await swapping.stop();
    }
    expect([...texts]).not.toContain('secret');
    const strays = readdirSync(join(area, 'outside')).filter((name) => name !== 'a.txt');
    // Only descriptors close the gap between check and use. By path, a swap at the very moment of the
    // rename can still create a file outside, which is why paths are never used on Linux.
    if (anchor === 'descriptor') expect(strays).toEqual([]);
    expect(strays.length).toBeLessThan(25);
    expect(readFileSync(join(area, 'outside', 'a.txt'), 'utf8')).toBe('secret');
  });

  it('closes all descriptors, also after errors', async () => {
    if (process.platform !== 'linux') return;
    symlinkSync(join(area, 'outside'), join(root, 'out'));
    const before = readdirSync('/proc/self/fd').length;
    for (let turn = 0; turn < 30; turn += 1) {
      await read('src/a.txt');
      await workspace.write('src/b/c', 'x');
      for (const path of ['out/a.txt', 'src', 'no', 'src/a.txt/x']) {
        await problemOf(read(path));
        await problemOf(workspace.write(path === 'no' ? 'out/no' : path, 'x'));
      }
    }
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 8);
  });
});

describe('a workspace', () => {
  it('is rejected at creation if it does not exist or is a file', () => {
    expect(() => new Workspace('/nowhere/at/all')).toThrow(/is not a usable directory/);
    expect(() => new Workspace(process.execPath)).toThrow(/is not a usable directory/);
  });

  it('can be a symbolic link, and absolute paths through it work', async () => {
    const area = mkdtempSync(join(tmpdir(), 'guard-'));
    try {
      mkdirSync(join(area, 'real'));
      writeFileSync(join(area, 'real', 'x'), 'x');
      symlinkSync('real', join(area, 'alias'));
      const workspace = new Workspace(join(area, 'alias'));
      expect(await workspace.locate(join(area, 'alias', 'x'))).toBe('x');
    } finally {
      rmSync(area, { recursive: true });
    }
  });
});

/** Swaps a directory and a symbolic link to `target` in another thread, as fast as it can. */
function swapFolder(
  folder: string,
  target: string,
): { started: Promise<void>; count(): number; stop(): Promise<void> } {
  const flag = new Int32Array(new SharedArrayBuffer(8));
  const source = `
    const { workerData: { flag, folder, target }, parentPort } = require('node:worker_threads');
    const { renameSync, rmSync, symlinkSync } = require('node:fs');
    parentPort.postMessage('started');
    while (Atomics.load(flag, 0) === 0) {
      renameSync(folder, folder + '-aside');
      try {
        symlinkSync(target, folder);
        Atomics.add(flag, 1, 1);
      } catch {
        // The directory was created again in between.
      }
      for (let back = false; !back; ) {
        try {
          rmSync(folder, { recursive: true, force: true });
          renameSync(folder + '-aside', folder);
          back = true;
        } catch {
          // Something was put into the new folder in between.
        }
      }
    }`;
  const worker = new Worker(source, { eval: true, workerData: { flag, folder, target } });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  return {
    started: new Promise((resolve) => void worker.once('message', () => resolve())),
    count: () => Atomics.load(flag, 1),
    async stop() {
      Atomics.store(flag, 0, 1);
      await exited;
    },
  };
}

it('a path that cannot be resolved is unusable [P21]', () => {
  const root = mkdtempSync(join(tmpdir(), 'guard-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  symlinkSync('nowhere', join(root, 'dead'));
  symlinkSync('circle', join(root, 'circle'));
  const workspace = new Workspace(root);
  for (const path of ['', 'a\0b', '../'.repeat(2100), 'dead', 'dead/a', 'circle/a/b'])
    expect(workspace.refusalOf(path), path.slice(0, 9)).toBe('unusable');
  for (const path of ['.', 'new', 'new/a']) expect(workspace.refusalOf(path), path).toBeUndefined();
});
