import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readServeFlags } from '../../src/server/serve-flags.ts';
import { servePlaces } from '../../src/server/serve-places.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const io = fakeIo({ cwd: '/work' });

describe('the store and the runner of a server', () => {
  test('default to a local file and no runner', async () => {
    const file = join(temporaryFolder(), 'server.db');
    const places = await servePlaces(readServeFlags({}), file, io);
    expect(places.name).toBe(file);
    expect(await places.open(() => ({}) as never)).toBeUndefined();
    await places.close();
  });

  test('must include a shared store if there is a runner', async () => {
    const flags = readServeFlags({ runner: 'restate' });
    await expect(servePlaces(flags, '/nowhere/server.db', io)).rejects.toThrow(/needs a store/);
  });

  test('are rejected if invalid, without showing a secret', async () => {
    expect(() => readServeFlags({ runner: 'nobody' })).toThrow(/Unknown runner "nobody"/);
    expect(() => readServeFlags({ restate: 'localhost' })).toThrow(/--restate cannot be "localhost"/);
    expect(() => readServeFlags({ restatePort: '99999' })).toThrow(/--restate-port cannot be/);
    const flags = readServeFlags({ store: 'postgres://[' });
    await expect(servePlaces(flags, '', io)).rejects.toThrow(/not a database address/);
    const other = readServeFlags({ store: 'mysql://me:secret@host/name' });
    const refused = await servePlaces(other, '', io).catch(String);
    expect(refused).toMatch(/--store cannot be mysql:\/\//);
    expect(refused).not.toContain('secret');
  });

  test('reject options of a runner that is not selected', () => {
    expect(() => readServeFlags({ restateAdmin: 'http://a:9070' })).toThrow(
      /--restate-admin requires --runner/,
    );
    expect(() => readServeFlags({ runner: 'restate', restateAdmin: 'http://a:9070' })).not.toThrow();
  });

  test('reject a host or port at which the runner could not find a restarted process', () => {
    const engine = { runner: 'restate', restateAddress: 'http://front:9080' };
    const { restateAddress: _, ...alone } = engine;
    expect(() => readServeFlags({ ...alone, restateHost: '0.0.0.0' })).toThrow(
      /cannot reach this process at --restate-host 0\.0\.0\.0/,
    );
    expect(() => readServeFlags({ ...alone, restatePort: '0' })).toThrow(
      /--restate-port 0 uses a different port/,
    );
    expect(readServeFlags({ ...engine, restateHost: '0.0.0.0', restatePort: '0' }).restate.port).toBe(0);
  });

  test('can use several addresses of one runner', () => {
    const { restate } = readServeFlags({ runner: 'restate', restate: 'http://a:8080, http://b:8080/' });
    expect(restate).toEqual({ ingress: ['http://a:8080', 'http://b:8080'], host: '127.0.0.1', port: 9080 });
  });
});
