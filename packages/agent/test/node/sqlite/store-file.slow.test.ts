import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { answered, ended, eventsOf, said, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { edit, newFile, open, plainChild, refusal, storeChild, testFolder } from './rig.ts';

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Creates a closed store with one session and returns its path. */
async function written(sessionId = 'one', turns = 1): Promise<string> {
  const file = newFile();
  const store = open(file);
  await write(store, sessionId, wholeRun('Hello.', turns));
  await store.close();
  return file;
}

test('creates directories and files for the owner only, regardless of the umask [P19]', async () => {
  const before = process.umask(0);
  try {
    const file = join(testFolder(), 'deep', 'er', 'sessions.db');
    const store = open(file);
    await write(store, 'one', [said('Secret.')]);
    expect([mode(dirname(file)), mode(dirname(dirname(file)))]).toEqual(['700', '700']);
    const names = readdirSync(dirname(file));
    expect(names.length).toBe(5);
    for (const name of names) expect([name, mode(join(dirname(file), name))]).toEqual([name, '600']);
  } finally {
    process.umask(before);
  }
});

test.each(['gone', 'empty'])(
  'reports a file that is %s but contained sessions, and does not recreate it [P13]',
  async (how) => {
    const file = await written();
    if (how === 'gone') rmSync(file);
    else truncateSync(file);
    const { code, message } = await refusal(() => open(file));
    expect([code, message]).toEqual([
      'store_missing',
      expect.stringContaining(
        `${file} is ${how === 'gone' ? 'missing' : 'empty'}, but it previously contained sessions`,
      ),
    ]);
    expect(existsSync(file) && statSync(file).size > 0).toBe(false);
    rmSync(`${file}-made`);
    expect(await open(file).sessions()).toEqual([]);
  },
);

test('does not open an emptied file, so that its write-ahead log is not lost', async () => {
  const file = newFile();
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  await child.kill();
  const kept = readFileSync(file);
  truncateSync(file);
  expect((await refusal(() => open(file))).code).toBe('store_missing');
  writeFileSync(file, kept);
  expect(await open(file).read('one')).toHaveLength(1);
});

test('does not change a file of another program', async () => {
  const file = newFile();
  edit(file, 'CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
  const before = readFileSync(file);
  expect((await refusal(() => open(file))).code).toBe('store_foreign');
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(dirname(file))).toEqual(['sessions.db']);
});

test('reports a file that is not a database as damaged, and does not change it', async () => {
  const file = newFile();
  writeFileSync(file, 'dear diary '.repeat(1000));
  const { code, message } = await refusal(() => open(file));
  expect(code).toBe('store_damaged');
  expect(message).toContain('restore a backup');
  expect(readFileSync(file, 'utf8')).toBe('dear diary '.repeat(1000));
});

test('rejects a file of a newer version, and does not change it', async () => {
  const file = await written();
  edit(file, 'PRAGMA user_version = 99');
  const before = readFileSync(file);
  const { code, message } = await refusal(() => open(file));
  expect(code).toBe('store_newer');
  expect(message).toContain('format 99');
  expect(message).toContain('Update Cobbler');
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('reports damaged pages only for the session that uses them [P13]', async () => {
  const file = newFile();
  const store = open(file);
  for (const id of ['one', 'two', 'three']) await write(store, id, wholeRun(`${id}! `.repeat(20_000)));
  await store.close();
  const bytes = readFileSync(file);
  // In the middle of the long text, where each page contains the number of the next.
  const page = Math.ceil(bytes.indexOf('two! '.repeat(100)) / 4096) + 10;
  bytes.fill(0xff, page * 4096, (page + 1) * 4096);
  writeFileSync(file, bytes);
  const damaged = open(file);
  expect((await refusal(() => damaged.read('two'))).code).toBe('store_damaged');
  expect(await damaged.read('one')).toHaveLength(wholeRun().length);
  expect(await damaged.read('three')).toHaveLength(wholeRun().length);
  expect((await damaged.list()).sessions.map(({ id }) => id)).toEqual(['three', 'two', 'one']);
  await write(damaged, 'four', wholeRun());
});

test('names an unreadable event, and reads the events before it', async () => {
  const file = await written('one', 3);
  edit(file, `UPDATE events SET json = substr(json, 1, 30) WHERE seq = 5`);
  const store = open(file);
  const { code, message } = await refusal(() => store.read('one'));
  expect([code, message]).toEqual([
    'store_damaged',
    expect.stringContaining('Event 5 of session one is damaged'),
  ]);
  expect(await store.read('one', 0, 4)).toHaveLength(4);
  edit(file, 'DELETE FROM events WHERE seq = 3');
  expect((await refusal(() => store.read('one'))).message).toContain('Event 3 of session one');
  edit(file, "UPDATE tallies SET tally = 'x'");
  expect((await store.list()).sessions).toMatchObject([{ id: 'one', title: '' }]);
});

/** Damage to a file at this position. */
const damages: readonly (readonly [string, (file: string, at: number) => void])[] = [
  ['is cut', truncateSync],
  [
    'has a changed bit',
    (file, at) => {
      const bytes = readFileSync(file);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
    },
  ],
  // Almost a page, because the middle of a page can be empty.
  ['has zeros', (file, at) => writeFileSync(file, readFileSync(file).fill(0, at - 4000, at))],
];

test.each(damages)(
  'reads all events before the point where the write-ahead log %s [P13]',
  async (_what, damage) => {
    const file = newFile();
    const child = storeChild('hold', file, 'one');
    expect(await child.line()).toBe('held');
    await child.kill();
    const store = open(file);
    const epoch = await store.claim('one');
    const sizes = [];
    for (let seq = 2; seq <= 5; seq += 1) {
      await store.append('one', eventsOf('one', [answered(`Answer ${seq}.`)], seq - 1), { epoch });
      sizes.push(statSync(`${file}-wal`).size);
    }
    const folder = testFolder();
    for (const [index, size] of sizes.entries()) {
      const copy = join(folder, `copy-${index}.db`);
      copyFileSync(file, copy);
      copyFileSync(`${file}-wal`, `${copy}-wal`);
      damage(`${copy}-wal`, size - 100);
      const damaged = open(copy);
      expect((await damaged.read('one')).map(({ seq }) => seq)).toEqual(
        Array.from({ length: index + 1 }, (_, at) => at + 1),
      );
      await write(damaged, 'one', [ended()]);
    }
  },
);

test('a claim detects that the open file was moved', async () => {
  const file = newFile();
  const store = open(file);
  await write(store, 'one', wholeRun());
  renameSync(file, `${file}.moved`);
  const { code, message } = await refusal(() => store.claim('one'));
  expect([code, message]).toEqual([
    'store_missing',
    expect.stringContaining('was moved, removed or replaced while it was open'),
  ]);
  writeFileSync(file, '');
  expect((await refusal(() => store.claim('one'))).code).toBe('store_missing');
});

test('a durable append and the end of a run detect that the file was removed [P13]', async () => {
  const file = newFile();
  const store = open(file);
  const epoch = await store.claim('one');
  rmSync(file);
  const [first] = eventsOf('one', [said('Hello.')]);
  const [last] = eventsOf('one', [ended()]);
  if (first === undefined || last === undefined) throw new Error('There are no events.');
  const codes = [
    await refusal(async () => await store.append('one', [first], { epoch, durable: true })),
    await refusal(async () => await store.append('one', [last], { epoch })),
    await refusal(async () => await store.append('one', [first], { epoch, release: true })),
    await refusal(() => store.probe()),
  ];
  expect(codes.map(({ code }) => code)).toEqual(Array(4).fill('store_missing'));
});

test('reports a file or directory without permissions, and what to check', async () => {
  const file = await written();
  const folder = dirname(file);
  const attempt = () => plainChild(folder, 'open', file).line();
  expect(await attempt()).toBe('opened');
  chmodSync(file, 0o444);
  expect(await attempt()).toMatch(
    /^store_readonly: .*sessions.db cannot be written. .* needs write access to the file, its directory/,
  );
  chmodSync(file, 0o600);
  chmodSync(folder, 0o500);
  expect(await attempt()).toMatch(/^store_(readonly|unreachable): .*sessions.db/);
  chmodSync(folder, 0o700);
  chmodSync(file, 0o000);
  expect(await attempt()).toMatch(/^store_unreachable: .*sessions.db cannot be opened/);
});

test('reports an unusable file next to the database, and what to check', async () => {
  const file = newFile();
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  await child.kill();
  chmodSync(`${file}-shm`, 0o444);
  expect(await plainChild(dirname(file), 'open', file).line()).toMatch(
    /^store_readonly: .* end in -wal and -shm/,
  );
  rmSync(`${file}-shm`);
  expect(await plainChild(dirname(file), 'write', file, 'one').line()).toBe('closed');
});

test('reports a directory that cannot be created', async () => {
  const folder = testFolder();
  writeFileSync(join(folder, 'file'), '');
  expect((await refusal(() => open(join(folder, 'file', 'sessions.db')))).code).toBe('store_unreachable');
  mkdirSync(join(folder, 'sessions.db'));
  expect((await refusal(() => open(join(folder, 'sessions.db')))).code).toBe('store_unreachable');
  mkdirSync(join(folder, 'closed'));
  chmodSync(join(folder, 'closed'), 0o500);
  const file = join(folder, 'closed', 'new', 'sessions.db');
  expect(await plainChild(folder, 'open', file).line()).toMatch(
    /^store_unreachable: .*sessions.db cannot be opened or created/,
  );
});

test('a closed store rejects every call, and has written pending events', async () => {
  const file = newFile();
  const store = open(file);
  const epoch = await store.claim('one');
  const appended = store.append('one', eventsOf('one', [said('Last words.')]), { epoch });
  await store.close();
  await appended;
  await store.close();
  for (const attempt of [
    () => store.claim('one'),
    () => store.read('one'),
    () => store.list(),
    () => store.delete('one'),
    () => store.vacuum(),
  ])
    expect((await refusal(attempt)).code).toBe('store_closed');
  expect(await open(file).read('one')).toHaveLength(1);
});

test('vacuum removes deleted data from the file and frees disk space', async () => {
  const file = newFile();
  const store = open(file);
  const secret = 'correct horse battery staple';
  await write(store, 'kept', wholeRun());
  await write(store, 'gone', wholeRun(secret.repeat(10_000)));
  expect(await store.vacuum()).toBe(0);
  const { size } = statSync(file);
  await store.delete('gone');
  expect(await store.vacuum()).toBeGreaterThan(200_000);
  expect(statSync(file).size).toBeLessThan(size - 200_000);
  for (const name of readdirSync(dirname(file)))
    expect([name, readFileSync(join(dirname(file), name)).includes(secret)]).toEqual([name, false]);
  expect(await store.sessions()).toEqual(['kept']);
});

test('a program that uses the store prints no Node warning about SQLite', () => {
  const script = fileURLToPath(new URL('store-child.ts', import.meta.url));
  const args = ['--conditions=@cobbler/source', script, 'write', newFile(), 'one'];
  // Node 22 would print a warning here; later versions print none.
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input: '' });
  expect(stderr).not.toContain('SQLite');
  expect(stdout).toBe('closed\n');
});
