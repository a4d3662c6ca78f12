import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { player, recorder } from '../../src/cassette/index.ts';
import { AgentError, memoryStore } from '../../src/index.ts';
import {
  copyDatabase,
  loadConfig,
  parseConfig,
  salvageStore,
  sqliteStore,
  verifyStore,
} from '../../src/node/index.ts';
import { openRuns, sqliteRunner } from '../../src/node/sqlite-runner/sqlite-runner.ts';
import { connectHarness } from '../../src/remote/index.ts';
import { runnerHarness } from '../../src/runner/runner-harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-untyped-'));

afterAll(() => rmSync(folder, { recursive: true }));

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const refusing = new Proxy(
  {},
  {
    get() {
      throw new RangeError('read by accident');
    },
  },
);

const values: Readonly<Record<string, unknown>> = {
  ...{ undefined, null: null, 'a number': 7, 'a bigint': 7n, 'a symbol': Symbol('s'), 'a flag': true },
  ...{ 'a function': () => {}, 'an array': [null], 'an object': {}, 'a revoked proxy': revoked() },
  'an object that cannot be read': refusing,
};

/** Calls a public function with a value of the wrong type. */
type Call = (value: never) => unknown;

const file = join(folder, 'store.db');
const runs = { file: join(folder, 'runs.db'), workflow: async () => null };
const link = { url: 'http://127.0.0.1:1', token: 't' };
const harness = {
  runner: { start: () => {}, cancel: () => {}, status: () => {} },
  store: memoryStore(),
  executor: { advance: () => {} },
};

/** Returns a harness whose server refuses every connection. */
const remote = () => connectHarness(link);

/** Adds a call for each of these fields of the options. */
function withFields(name: string, options: object, fields: readonly string[], call: Call) {
  const all = fields.map((field): [string, Call] => [
    `${name}.${field}`,
    (value) => call({ ...options, [field]: value } as never),
  ]);
  return { [name]: call, ...Object.fromEntries(all) };
}

const calls: Readonly<Record<string, Call>> = {
  'sqliteStore: file': (value) => sqliteStore(value),
  ...withFields('sqliteStore: options', {}, ['maxBytes', 'busyMs', 'now', 'onWrite'], (options) =>
    sqliteStore(file, options).close(),
  ),
  ...withFields(
    'sqliteRunner: options',
    runs,
    ['file', 'workflow', 'runtime', 'retention', 'busyMs', 'lookMs', 'onWrite'],
    (options) => sqliteRunner(options).close(),
  ),
  'openRuns: file': (value) => openRuns(value),
  'verifyStore: file': (value) => verifyStore(value),
  'salvageStore: from': (value) => salvageStore(value, file),
  'salvageStore: to': (value) => salvageStore(file, value),
  'copyDatabase: from': (value) => copyDatabase(value, join(folder, 'copy.db')),
  'copyDatabase: to': (value) => copyDatabase(file, value),
  ...withFields('loadConfig: options', {}, ['home', 'env'], (options) => loadConfig(options)),
  'parseConfig: text': (value) => parseConfig(value, 'config.yaml'),
  'parseConfig: path': (value) => parseConfig('a: 1', value),
  'player: cassette': (value) => player(value),
  ...withFields('player: options', {}, ['liveTools', 'secrets', 'runtime', 'turn', 'patienceMs'], (options) =>
    player('', options),
  ),
  ...withFields(
    'recorder: options',
    { write: () => {} },
    ['write', 'secrets', 'runtime', 'transport', 'turn'],
    (options) => recorder(options),
  ),
  ...withFields(
    'connectHarness: options',
    link,
    [
      'url',
      'token',
      'sessionId',
      'handler',
      'report',
      'onLost',
      'onBack',
      'onRefused',
      'onUnread',
      'back',
      'patienceMs',
      'stopMs',
      'runtime',
    ],
    (options) => connectHarness(options).close(),
  ),
  'connectHarness().prompt: options': (options) => void remote().prompt('Hi.', options).cancel(),
  'connectHarness().resume: options': (options) => void remote().resume(options).cancel(),
  'connectHarness().fork: options': (options) => remote().fork(options),
  ...withFields(
    'runnerHarness: options',
    harness,
    ['runner', 'store', 'executor', 'sessionId', 'handler', 'report', 'watch', 'pollMs', 'runtime'],
    (options) => runnerHarness(options).close(),
  ),
};

describe.each(Object.entries(calls))('%s', (name, call) => {
  it.each(Object.entries(values))('reads or rejects %s, and names the place [P26]', async (_, value) => {
    let thrown: unknown;
    try {
      await call(value as never);
    } catch (error) {
      thrown = error;
    }
    if (thrown === undefined) return;
    expect(AgentError.is(thrown), String(thrown)).toBe(true);
    const field = name.replace(/^.*[.: ]/, '');
    if (AgentError.is(thrown) && thrown.code === 'bad_option') expect(thrown.message).toContain(field);
  });
});
