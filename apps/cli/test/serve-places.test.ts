import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readServeFlags } from '../src/serve-flags.ts';
import { servePlaces } from '../src/serve-places.ts';
import { fakeIo } from './fake-io.ts';
import { temporaryFolder } from './temporary-folder.ts';

const io = fakeIo({ cwd: '/work' });

describe('where a server keeps sessions and does its runs', () => {
  test('in a file here, unless told otherwise', async () => {
    const file = join(temporaryFolder(), 'server.db');
    const places = await servePlaces(readServeFlags({}), file, io);
    expect(places.name).toBe(file);
    expect(await places.open(() => ({}) as never)).toBeUndefined();
    await places.close();
  });

  test('a runner wants a store that all processes share', async () => {
    const flags = readServeFlags({ runner: 'restate' });
    await expect(servePlaces(flags, '/nowhere/server.db', io)).rejects.toThrow(/needs a store/);
  });

  test('what cannot be meant is refused in words', async () => {
    expect(() => readServeFlags({ runner: 'nobody' })).toThrow(/no runner named "nobody"/);
    expect(() => readServeFlags({ restate: 'localhost' })).toThrow(/--restate cannot be "localhost"/);
    expect(() => readServeFlags({ restatePort: '99999' })).toThrow(/--restate-port cannot be/);
    const flags = readServeFlags({ store: 'postgres://[' });
    await expect(servePlaces(flags, '', io)).rejects.toThrow(/no address of a database/);
  });

  test('several addresses of one engine are taken', () => {
    const { restate } = readServeFlags({ restate: 'http://a:8080, http://b:8080/', restatePort: '0' });
    expect(restate).toEqual({ ingress: ['http://a:8080', 'http://b:8080'], host: '127.0.0.1', port: 0 });
  });
});
