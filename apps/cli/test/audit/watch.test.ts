import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore } from '@cobbler/agent';
import { eventsOf, said, worked } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { openAudit } from '../../src/session/audit.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a watched store records what it has accepted, and nothing that it has rejected', async () => {
  const home = temporaryFolder();
  const audit = openAudit('test', {}, fakeIo({ env: { COBBLER_HOME: home } }));
  const store = audit.watch(memoryStore(), () => false);
  const epoch = await store.claim('session-1');
  const append = async (after: number) =>
    store.append('session-1', eventsOf('session-1', [said('Go.'), ...worked(0)], after), { epoch });
  await expect(append(5)).rejects.toThrow('sequence number');
  expect(existsSync(join(home, 'audit'))).toBe(false);
  await append(0);
  await audit.close();
  expect(await store.info('session-1')).toMatchObject({ toolCalls: 1 });
  const kinds = readFileSync(join(home, 'audit', 'audit.jsonl'), 'utf8').match(/"kind":"\w+"/g);
  expect(kinds).toEqual(['start', 'call', 'call', 'stop', 'head'].map((kind) => `"kind":"${kind}"`));
});
