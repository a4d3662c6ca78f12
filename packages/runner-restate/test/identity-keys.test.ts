import { connect } from 'node:http2';
import { AgentError } from '@cobbler/agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RestateRunnerOptions } from '../src/index.ts';
import { restateRunner } from '../src/index.ts';

const key = 'publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f';

type Options = Partial<RestateRunnerOptions<null, null>>;

function open(options: Options) {
  const runner = restateRunner({
    workflow: async () => null,
    ingress: 'http://127.0.0.1:9',
    port: 0,
    patienceMs: 1,
    ...options,
  });
  onTestFinished(() => runner.close());
  return runner;
}

function codeOf(thrown: unknown): string | undefined {
  return AgentError.is(thrown) ? thrown.code : String(thrown);
}

/** Returns the status of an unsigned call of a handler. */
async function call(url: string): Promise<number> {
  const session = connect(url);
  const request = session.request({ ':method': 'POST', ':path': '/invoke/cobbler-runs/run' });
  request.end();
  const status = await new Promise<number>((resolve, reject) => {
    request.on('response', (headers) => resolve(Number(headers[':status'])));
    request.on('error', reject);
  });
  session.destroy();
  return status;
}

describe('the handlers', () => {
  test.each<[string, Options]>([
    ['every address', { host: '0.0.0.0' }],
    ['every address of IPv6', { host: '::' }],
    ['an address of a network', { host: '10.0.0.1' }],
    ['a name', { host: 'cobbler.internal' }],
    ['a name that looks like this machine', { host: '127.0.0.1.evil.example' }],
    ['every address, with an empty list', { host: '0.0.0.0', identityKeys: [] }],
  ])('do not open without a key on %s', (_, options) => {
    expect(() => open(options)).toThrow(/without identityKeys.*trust-network/);
    let code: string | undefined;
    try {
      open(options);
    } catch (thrown) {
      code = codeOf(thrown);
    }
    expect(code).toBe('identity_keys');
  });

  test.each<[string, Options]>([
    ['without a key on this machine', {}],
    ['without a key on another address of this machine', { host: '127.0.0.2' }],
    ['with a key on every address', { host: '0.0.0.0', identityKeys: [key] }],
    ['on every address if something else protects them', { host: '0.0.0.0', identityKeys: 'trust-network' }],
  ])('open %s', async (_, options) => {
    expect(await open(options).listening()).toMatch(/^http:/);
  });

  test.each([
    ['a word', 'none'],
    ['a list of other texts', ['secret']],
    ['a list with the word', ['trust-network']],
  ])('reject %s as keys', (_, identityKeys) => {
    expect(() => open({ identityKeys: identityKeys as never })).toThrow(/identityKeys/);
  });

  test('reject a key that only looks like one', async () => {
    const runner = open({ identityKeys: ['publickeyv1_0'] });
    expect(codeOf(await runner.listening().catch((thrown: unknown) => thrown))).toBe('identity_keys');
  });

  test('reject an unsigned call if they have a key', async () => {
    expect(await call(await open({ identityKeys: [key] }).listening())).toBe(401);
    expect(await call(await open({}).listening())).not.toBe(401);
  });
});
