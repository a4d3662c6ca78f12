import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore } from '@cobbler/agent';
import { eventsOf, said, worked } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { openAudit, watchRules } from '../../src/session/audit.ts';
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

test('rules are recorded once in a process, with the first effect', async () => {
  const home = temporaryFolder();
  const audit = openAudit('test', {}, fakeIo({ env: { COBBLER_HOME: home } }));
  const permission = { rules: { allow: ['mail', 'run_command(ls)'], deny: ['mail'] }, onAllow: () => {} };
  watchRules(audit, permission);
  watchRules(audit, permission);
  expect(existsSync(join(home, 'audit'))).toBe(false);
  audit.note({ kind: 'token', change: 'created', token: 'tok_1' });
  watchRules(audit, permission);
  await audit.close();
  const log = readFileSync(join(home, 'audit', 'audit.jsonl'), 'utf8');
  expect(log.match(/"verdict":"\w+","tool":"\w+"/g)).toEqual([
    '"verdict":"allow","tool":"mail"',
    '"verdict":"allow","tool":"run_command"',
    '"verdict":"deny","tool":"mail"',
  ]);
  expect(log).not.toContain('run_command(ls)');
});
