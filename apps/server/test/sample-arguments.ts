import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from '@cobbler/agent';
import { memoryRunner } from '@cobbler/agent/runner';
import { scriptedModel, textResponse } from '@cobbler/agent/testing';
import { afterAll } from 'vitest';
import { defaultLimits, TokenStore } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'sample-arguments-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Not plain objects, so that the functions in them are not replaced. */
const shared = <Value extends object>(value: Value): Value => Object.create(value);

const store = shared(memoryStore());
const agent = shared(scriptedModel([textResponse('Done.')]));
const runner = shared(memoryRunner({ workflow: async () => null }));
const file = { read: () => undefined, write: () => {} };

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  'new TokenStore': () => [shared(file), () => 1],
  'new TokenStore().rotate': () => [1],
  'new TokenStore().add': () => [{ name: 'one', scopes: ['read'], expiresInMs: 1_000 }],
  'new TokenStore().find': () => ['secret'],
  'new TokenStore().has': () => ['tok_1'],
  'new TokenStore().cookieKey': () => ['tok_1'],
  'new TokenStore().remove': () => ['tok_1'],
  'new TokenStore().onAdd': () => [() => {}],
  'new TokenStore().onRemove': () => [() => {}],
  tokenFile: () => [join(folder, 'tokens')],
  'tokenFile().write': () => ['{}'],
  sessionExecutor: () => [{ agent, tools: [], limits: { turns: 1 } }, store],
  sessionWork: () => [store, () => ({ agent })],
  startServer: () => [
    {
      ...{ store, settings: () => ({ agent }), elsewhere: { runner }, tokens: new TokenStore() },
      ...{ host: '127.0.0.1', port: 0, allowedHosts: ['a.test'], limits: defaultLimits, resumes: false },
      ...{ log: () => {}, level: 'info', version: '1.0.0' },
    },
  ],
};

const exceptions: Readonly<Record<string, string>> = {
  'sessionWork()': 'a runner calls it, with the input that a harness has created',
};

export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
