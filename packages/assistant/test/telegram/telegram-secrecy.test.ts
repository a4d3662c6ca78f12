import { inspect } from 'node:util';
import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { getMe, secretMatches, telegramApi, telegramChannel } from '../../src/telegram/index.ts';
import type { FakeFault } from '../../src/testing/index.ts';
import { fakeTelegram } from '../../src/testing/index.ts';

const token = '987654:AAH-very_Secret-part';
const parts = [token, encodeURIComponent(token), 'AAH-very_Secret-part'];

/** Returns every text that a log could contain for an error. */
function tellings(error: unknown): string {
  const shown = error instanceof Error ? [error.message, String(error.stack), String(error.cause)] : [];
  return [
    ...shown,
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    String(error),
  ].join('\n');
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function expectHidden(error: unknown): void {
  expect(AgentError.is(error)).toBe(true);
  for (const part of parts) expect(tellings(error)).not.toContain(part);
}

function channelWith(fetch: Runtime['fetch'], runtime: Runtime = systemRuntime) {
  return telegramChannel({ token, runtime: { ...runtime, fetch } });
}

const faults: FakeFault[] = [
  { type: 'limit', retryAfter: 3 },
  ...(['blocked', 'gone', 'migrated', 'unauthorized', 'error', 'unavailable', 'restart'] as const).map(
    (type) => ({ type }),
  ),
  ...(['refused', 'cut', 'lost', 'garbled', 'gateway'] as const).map((type) => ({ type })),
];

describe('an error does not reveal the token', () => {
  it.each(faults.map((fault) => [fault.type, fault] as const))('%s', async (_type, fault) => {
    const telegram = fakeTelegram({ token });
    telegram.say(1, 'hello');
    telegram.fail('*', fault);
    expectHidden(await failureOf(channelWith(telegram.fetch).send('1', { text: 'x' })));
    telegram.fail('*', fault);
    expectHidden(await failureOf(channelWith(telegram.fetch).edit('1', '2', { text: 'y' })));
  });

  it('after a timeout or a cancelled call', async () => {
    const telegram = fakeTelegram({ token });
    telegram.say(1, 'hello');
    const runtime = fakeRuntime();
    telegram.fail('*', { type: 'hang' }, 2);
    const late = failureOf(channelWith(telegram.fetch, runtime).send('1', { text: 'x' }));
    await runtime.advance(30_000);
    expectHidden(await late);
    const control = new AbortController();
    const call = failureOf(
      channelWith(telegram.fetch, runtime).send('1', { text: 'x' }, { signal: control.signal }),
    );
    control.abort(new Error(`stop ${token}`));
    expectHidden(await call);
    expect(runtime.timers).toBe(0);
  });

  it('if fetch includes the address in its name, message, code or causes', async () => {
    const quoting: Runtime['fetch'] = async (input) => {
      const url = String(input);
      const cause = Object.assign(new Error(`getaddrinfo ${url}`), { code: `E ${url}`, url });
      throw Object.assign(new TypeError(`Failed to parse URL from ${url}`, { cause }), {
        name: url,
        code: url,
        input: url,
      });
    };
    expectHidden(await failureOf(channelWith(quoting).send('1', { text: 'x' })));
    const thrown: Runtime['fetch'] = (input) => Promise.reject(String(input));
    expectHidden(await failureOf(channelWith(thrown).send('1', { text: 'x' })));
  });

  it('if Telegram, or a server in its place, repeats the token', async () => {
    const repeating: Runtime['fetch'] = async (input) =>
      new Response(JSON.stringify({ ok: false, error_code: 400, description: `no ${String(input)}` }), {
        status: 400,
      });
    expectHidden(await failureOf(channelWith(repeating).send('1', { text: 'x' })));
  });

  it('and neither does the API client', () => {
    const api = telegramApi({ token });
    for (const part of parts) expect(tellings(api)).not.toContain(part);
  });

  it('if an invalid token is rejected immediately', () => {
    for (const wrong of ['', 'AAH-very_Secret-part', `${token} x`, 'bot/..', `${token}/getMe?`]) {
      const make = () => telegramApi({ token: wrong });
      expect(make).toThrow(expect.objectContaining({ kind: 'invalid', code: 'no_bot_token' }));
      expect(make).not.toThrow(/Secret/);
    }
  });

  it('and a redirect is not followed, so that the token reaches no other server', async () => {
    const seen: string[] = [];
    const redirecting: Runtime['fetch'] = async (input, init) => {
      seen.push(String(init?.redirect));
      expect(String(input)).toMatch(/^https:\/\/api\.telegram\.org\/bot/);
      return new Response(null, { status: 302, headers: { location: 'https://elsewhere.example/' } });
    };
    const error = await failureOf(
      getMe(telegramApi({ token, runtime: { ...systemRuntime, fetch: redirecting } })),
    );
    expectHidden(error);
    expect(seen).toEqual(['manual']);
  });
});

describe('the secret of a webhook', () => {
  it('matches only itself, regardless of the lengths', async () => {
    expect(await secretMatches('abc-1', 'abc-1')).toBe(true);
    for (const given of [
      'abc-2',
      'abc-',
      'abc-11',
      '',
      'ABC-1',
      ' abc-1',
      'x'.repeat(100_000),
      null,
      undefined,
    ])
      expect(await secretMatches(given, 'abc-1')).toBe(false);
  });

  it('matches nothing if it is empty', async () => {
    for (const given of ['', null, undefined, 'x']) expect(await secretMatches(given, '')).toBe(false);
  });

  it('is compared by every digit of both digests, wherever they differ', async () => {
    let reads = 0;
    const counting = (text: string) => {
      const charCodeAt = (index: number) => {
        reads += 1;
        return text.charCodeAt(index % text.length);
      };
      const digest = { length: 64, charCodeAt };
      return Promise.resolve(digest as unknown as string);
    };
    const counts = new Set<number>();
    for (const given of ['abcdefgh', 'xbcdefgh', 'abcdefgx']) {
      reads = 0;
      await secretMatches(given, 'abcdefgh', { digest: counting });
      counts.add(reads);
    }
    expect([...counts]).toEqual([128]);
  });
});
