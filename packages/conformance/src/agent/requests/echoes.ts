import type { MockReply } from '@cobbler/agent/testing';
import {
  expect,
  expectEqual,
  failsWith,
  replies,
  scriptResponse,
  serveLoopback,
  wireServer,
} from '@cobbler/agent/testing';
import { expectClean } from '../failures/secrets.ts';
import { leaks } from '../setup/leak.ts';
import { spoken, until } from '../setup/positions.ts';
import { onSocket } from '../setup/raw-responses.ts';
import { askOnce, contractKey, errorOf, promptly, repliesTo, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = group('secrets');
const onWire = socketGroup('secrets');
const redirects = group('redirects');

const fine = replies(scriptResponse(['Fine.']));

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function hex(text: string): string {
  return [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

/** The key in every encoding in which a gateway may return it. */
const spellings: readonly string[] = [
  contractKey,
  `Bearer ${contractKey}`,
  encodeURIComponent(contractKey),
  JSON.stringify(contractKey),
  base64(contractKey),
  `${contractKey}${contractKey}`,
  `user:${contractKey}@host`,
  `?key=${encodeURIComponent(contractKey)}&x=1`,
  contractKey.repeat(40),
];

/** Serves a reply for each encoding. The key must not appear in the result in any of them. */
function hidesKey(
  what: string,
  replyFor: (words: string, subject: ContractSubject) => MockReply,
): CaseDefinition {
  return the(`the key appears in no encoding when ${what} [P19]`, async (subject) => {
    const script = spellings.flatMap((words) => repliesTo(subject, replyFor(words, subject)));
    await withSetup(
      subject,
      script,
      async (setup) => {
        for (const words of spellings) {
          const { error, events } = await setup.ask();
          const secrets = [contractKey, encodeURIComponent(contractKey), base64(contractKey)];
          expectEqual(
            leaks([error, events], secrets),
            undefined,
            `the path where the key appears for ${words}`,
          );
          if (error !== undefined) await expectClean(error);
        }
      },
      { retry: { retries: 0 } },
    );
  });
}

function text(status: number, body: string, type = 'text/plain'): MockReply {
  return { type: 'raw', status, headers: { 'content-type': type }, body };
}

/** Returns the text with the characters that HTTP headers allow. */
function headerSafe(words: string): string {
  return words.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 2000);
}

/** A redirect that must not be followed, neither with the key nor without. */
function redirected(what: string, status: number, location: (other: string) => string): CaseDefinition {
  return redirects(`${what} is not followed, and nothing is sent elsewhere [P6]`, async (subject) => {
    const elsewhere = wireServer(subject.testing, () => fine);
    const other = await serveLoopback(elsewhere.handler);
    try {
      const to = location(other.url);
      const { outcome, exchanges } = await askOnce(subject, [
        { type: 'raw', status, headers: { location: to } },
        fine,
      ]);
      const error = errorOf(outcome);
      expectEqual(
        [error.kind, error.retryable, error.attempts],
        ['invalid', false, 1],
        'kind, retryable, attempts',
      );
      expectEqual(
        [exchanges.length, elsewhere.exchanges.length],
        [1, 0],
        'the requests to the service and to the redirect target',
      );
      expect(
        error.message.length < 600,
        `a message shorter than 600 characters, found ${error.message.length}`,
      );
      await expectClean(error);
    } finally {
      await other.close();
    }
  });
}

export const echoCases: readonly CaseDefinition[] = [
  hidesKey('the message of an error contains it', (words) =>
    failsWith({ kind: 'invalid', message: `No: ${words}.` }),
  ),
  hidesKey('a plain-text error contains it', (words) => text(400, `no such key: ${words}`)),
  hidesKey('a web page contains it', (words) =>
    text(502, `<html><body><pre>x-api-key: ${words}</pre></body></html>`, 'text/html'),
  ),
  hidesKey('an error in an unknown JSON format contains it', (words) =>
    text(
      401,
      JSON.stringify({ detail: [{ loc: ['header'], input: words, msg: `bad ${words}` }] }),
      'application/json',
    ),
  ),
  hidesKey('JSON with a success status contains it', (words) =>
    text(200, JSON.stringify({ error: { message: words } }), 'application/json'),
  ),
  hidesKey('the content type contains it', (words) =>
    text(200, 'odd', `text/x-${headerSafe(words).replaceAll(/[\s;]/g, '-')}`),
  ),
  hidesKey('a header of the error contains it', (words, subject) => ({
    ...failsWith({ kind: 'agent', message: 'Broken.' }),
    headers: Object.fromEntries(
      [
        ...Object.keys(subject.testing.head?.headers ?? {}),
        'www-authenticate',
        'x-error',
        'retry-after',
        'location',
      ].map((name) => [name, headerSafe(words)]),
    ),
  })),
  hidesKey('a malformed stream contains it', (words) =>
    replies(spoken, {
      steps: until(spoken, 0, 'delta'),
      edit: (all) => [...all, `{"broken": "${words}`],
    }),
  ),
  the(
    'the key appears in no encoding when an in-stream error contains it [P19]',
    async (subject) => {
      const script = spellings.map((words) =>
        replies(spoken, {
          steps: until(spoken, 0, 'delta'),
          fault: { kind: 'busy', message: `For ${words}.` },
        }),
      );
      await withSetup(
        subject,
        script,
        async (setup) => {
          for (const words of spellings) {
            const error = errorOf(await setup.ask());
            expectEqual(
              leaks(error, [base64(contractKey)]),
              undefined,
              `the path where the key appears for ${words}`,
            );
            await expectClean(error);
          }
        },
        { retry: { retries: 0 } },
      );
    },
    'in-stream-fault',
  ),
  the('the key does not appear when JSON contains it in escapes [P19]', async (subject) => {
    const body = `{"error":{"message":"${hex(contractKey)}","type":"x"},"message":"${hex(contractKey)}"}`;
    const { outcome } = await askOnce(subject, [text(400, body, 'application/json')]);
    await expectClean(errorOf(outcome));
  }),
  the('the key does not appear in the metadata of a successful response [P19]', async (subject) => {
    const headers = Object.keys(subject.testing.head?.headers ?? {}).map((name) => [
      name,
      `id ${contractKey}`,
    ]);
    const { outcome } = await askOnce(subject, replies(spoken, { headers: Object.fromEntries(headers) }));
    const { requestId, rateLimits, model } = responseOf(outcome);
    expectEqual(
      leaks({ requestId, rateLimits, model }, [contractKey]),
      undefined,
      'the path where the key appears',
    );
  }),
  the('the key does not appear when it is declared as the content encoding [P19]', async (subject) => {
    const headers = { 'content-encoding': headerSafe(contractKey) };
    const { outcome } = await askOnce(subject, [replies(spoken, { headers })], {}, { retry: { retries: 0 } });
    await expectClean(errorOf(outcome));
  }),
  onWire('the key does not appear in an error about invalid HTTP [P19]', (subject) =>
    onSocket(
      subject,
      [{ bytes: [`HTTP/1.1 ${contractKey}\r\n${contractKey}\r\n\r\n`], ending: 'end' }],
      async ({ ask }) => expectClean(errorOf(await ask())),
    ),
  ),
  {
    off: ({ testing }) => (testing.request.key ? undefined : 'requests do not contain the key'),
    ...the('a key that HTTP cannot transmit is rejected without showing it [P19]', async (subject) => {
      for (const key of [`${contractKey}\r\nx-other: 1`, `${contractKey}\u0000`, `${contractKey}ключ`]) {
        await withSetup(subject, [], async (setup) => {
          let error: unknown;
          try {
            const outcome = await setup.ask({}, { agent: setup.agent({ apiKey: key }) });
            error = errorOf(outcome);
          } catch (thrown) {
            error = thrown;
          }
          expectEqual(leaks(error, [contractKey]), undefined, 'the path where the key appears in the error');
          expectEqual(setup.server.exchanges.length, 0, 'the number of requests');
        });
      }
    }),
  },
  onWire('a password in the address does not appear if the connection is refused [P19]', async (subject) => {
    const { outcome } = await askOnce(
      subject,
      [],
      {},
      { baseURL: 'http://someone:pa55-w0rd-xyz@127.0.0.1:1/v1' },
    );
    expectEqual(leaks(errorOf(outcome), ['pa55-w0rd-xyz']), undefined, 'the path where the password appears');
  }),
  the('only a retry sends the key again [P19]', async (subject) => {
    const busy = failsWith({ kind: 'busy', message: 'Busy.' });
    const { exchanges } = await askOnce(subject, [busy, busy, fine]);
    for (const { headers, url, text: sent } of exchanges) {
      const holders = [...headers].filter(([, value]) => value.includes(contractKey));
      expectEqual(holders.length, subject.testing.request.key ? 1 : 0, 'the number of headers with the key');
      expectEqual(
        leaks([url, sent], [contractKey, encodeURIComponent(contractKey)]),
        undefined,
        'where else the key appears',
      );
    }
  }),
  ...[301, 302, 303, 307, 308].map((status) =>
    redirected(`a redirect with ${status}`, status, (other) => `${other}/login`),
  ),
  redirected('a redirect with 300', 300, (other) => other),
  redirected('a redirect that only changes the host', 307, (other) => other.replace('http:', '')),
  redirected('a redirect with a password in its address', 308, (other) =>
    other.replace('//', '//user:password@'),
  ),
  redirected(
    'a redirect with the key in its address',
    302,
    (other) => `${other}/${encodeURIComponent(contractKey)}`,
  ),
  redirected('a redirect to a javascript: address', 301, () => 'javascript:alert(1)'),
  redirected('a redirect to a file: address', 307, () => 'file:///etc/passwd'),
  redirected('a redirect with an invalid address', 308, () => 'http://[broken'),
  redirected('a redirect to an address of 8,000 characters', 302, (other) => `${other}/${'x'.repeat(8000)}`),
  redirects('a redirect without an address is not retried [P6]', async (subject) => {
    const { outcome, exchanges } = await askOnce(subject, [{ type: 'raw', status: 302 }, fine]);
    expectEqual([errorOf(outcome).kind, exchanges.length], ['invalid', 1], 'kind and requests');
  }),
  redirects('a redirect in a second attempt is not retried either [P6]', async (subject) => {
    const busy = failsWith({ kind: 'agent', message: 'Broken.' });
    const away: MockReply = { type: 'raw', status: 307, headers: { location: 'http://127.0.0.1:9/' } };
    const { outcome, exchanges } = await askOnce(subject, [busy, away, fine]);
    expectEqual(
      [errorOf(outcome).kind, errorOf(outcome).attempts, exchanges.length],
      ['invalid', 2, 2],
      'kind, attempts, requests',
    );
  }),
  redirects('a redirect whose body never ends is still reported [P6]', async (subject) => {
    const away: MockReply = {
      type: 'raw',
      status: 302,
      headers: { location: '/x' },
      body: 'Moved',
      ending: 'stall',
    };
    await withSetup(subject, [away], async (setup) => {
      const asked = setup.ask();
      const exchange = await setup.server.arrival(0);
      await setup.untilSettled();
      await setup.runtime.advance(20_000);
      expectEqual(
        errorOf(await promptly(asked, 1000, 'the request')).kind,
        'invalid',
        'the kind of the error',
      );
      await promptly(exchange.left, 1000, 'the connection');
    });
  }),
];
