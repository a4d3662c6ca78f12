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
import { answered, askOnce, contractKey, failed, onStage, promptly } from '../setup/setup.ts';
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

/** The key in every spelling in which a gateway may give it back. */
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

/** A play for each spelling; whatever comes of it holds the key in none of them. */
function echoed(what: string, play: (words: string, subject: ContractSubject) => MockReply): CaseDefinition {
  return the(`the key appears in no spelling when ${what} [P19]`, async (subject) => {
    const script = spellings.map((words) => play(words, subject));
    await onStage(
      subject,
      script,
      async (stage) => {
        for (const words of spellings) {
          const { error, events } = await stage.ask();
          const secrets = [contractKey, encodeURIComponent(contractKey), base64(contractKey)];
          expectEqual(leaks([error, events], secrets), undefined, `where the key stands for ${words}`);
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

/** A header value: HTTP cannot carry every character. */
function headerSafe(words: string): string {
  return words.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 2000);
}

/** A redirect that must be followed neither with the key nor without. */
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
      const error = failed(outcome);
      expectEqual(
        [error.kind, error.retryable, error.attempts],
        ['invalid', false, 1],
        'kind, retryable, attempts',
      );
      expectEqual([exchanges.length, elsewhere.exchanges.length], [1, 0], 'the requests here and there');
      expect(error.message.length < 600, `a message in few words, found ${error.message.length} characters`);
      await expectClean(error);
    } finally {
      await other.close();
    }
  });
}

export const echoCases: readonly CaseDefinition[] = [
  echoed('an error has it in its words', (words) => failsWith({ kind: 'invalid', message: `No: ${words}.` })),
  echoed('an error has it in plain text', (words) => text(400, `no such key: ${words}`)),
  echoed('an error has it in a web page', (words) =>
    text(502, `<html><body><pre>x-api-key: ${words}</pre></body></html>`, 'text/html'),
  ),
  echoed('an error has it in JSON of another shape', (words) =>
    text(
      401,
      JSON.stringify({ detail: [{ loc: ['header'], input: words, msg: `bad ${words}` }] }),
      'application/json',
    ),
  ),
  echoed('a good status has it in JSON', (words) =>
    text(200, JSON.stringify({ error: { message: words } }), 'application/json'),
  ),
  echoed('the content type has it', (words) =>
    text(200, 'odd', `text/x-${headerSafe(words).replaceAll(/[\s;]/g, '-')}`),
  ),
  echoed('a header of the error has it', (words, subject) => ({
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
  echoed('a garbled stream has it', (words, { testing }) => {
    const frame = testing.frame('{"broken": ');
    return replies(spoken, {
      steps: until(spoken, 0, 'delta'),
      edit: (all) => [...all, '{"broken": '],
      rewrite: (told) => (told === frame ? testing.frame(`{"broken": "${words}`) : told),
    });
  }),
  the(
    'the key appears in no spelling when a failure inside a stream has it [P19]',
    async (subject) => {
      const script = spellings.map((words) =>
        replies(spoken, {
          steps: until(spoken, 0, 'delta'),
          fault: { kind: 'busy', message: `For ${words}.` },
        }),
      );
      await onStage(
        subject,
        script,
        async (stage) => {
          for (const words of spellings) {
            const error = failed(await stage.ask());
            expectEqual(leaks(error, [base64(contractKey)]), undefined, `where the key stands for ${words}`);
            await expectClean(error);
          }
        },
        { retry: { retries: 0 } },
      );
    },
    'in-stream-fault',
  ),
  the('the key does not appear when JSON spells it in escapes [P19]', async (subject) => {
    const body = `{"error":{"message":"${hex(contractKey)}","type":"x"},"message":"${hex(contractKey)}"}`;
    const { outcome } = await askOnce(subject, [text(400, body, 'application/json')]);
    await expectClean(failed(outcome));
  }),
  the('the key does not appear in what a good answer says of itself [P19]', async (subject) => {
    const headers = Object.keys(subject.testing.head?.headers ?? {}).map((name) => [
      name,
      `id ${contractKey}`,
    ]);
    const { outcome } = await askOnce(subject, replies(spoken, { headers: Object.fromEntries(headers) }));
    const { requestId, rateLimits, model } = answered(outcome);
    expectEqual(leaks({ requestId, rateLimits, model }, [contractKey]), undefined, 'where the key stands');
  }),
  the('the key does not appear when an encoding of that name is declared [P19]', async (subject) => {
    const headers = { 'content-encoding': headerSafe(contractKey) };
    const { outcome } = await askOnce(subject, [replies(spoken, { headers })], {}, { retry: { retries: 0 } });
    await expectClean(failed(outcome));
  }),
  onWire('the key does not appear in an error about bytes that are no HTTP [P19]', (subject) =>
    onSocket(
      subject,
      [{ bytes: [`HTTP/1.1 ${contractKey}\r\n${contractKey}\r\n\r\n`], ending: 'end' }],
      async ({ ask }) => expectClean(failed(await ask())),
    ),
  ),
  the('a key that HTTP cannot carry is refused without being shown [P19]', async (subject) => {
    for (const key of [`${contractKey}\r\nx-other: 1`, `${contractKey}\u0000`, `${contractKey}ключ`]) {
      await onStage(subject, [], async (stage) => {
        let error: unknown;
        try {
          const outcome = await stage.ask({}, { agent: stage.agent({ apiKey: key }) });
          error = failed(outcome);
        } catch (thrown) {
          error = thrown;
        }
        expectEqual(leaks(error, [contractKey]), undefined, 'where the key is in the error');
        expectEqual(stage.server.exchanges.length, 0, 'the number of requests');
      });
    }
  }),
  onWire('a password in the address does not appear when nobody listens there [P19]', async (subject) => {
    const { outcome } = await askOnce(
      subject,
      [],
      {},
      { baseURL: 'http://someone:pa55-w0rd-xyz@127.0.0.1:1/v1' },
    );
    expectEqual(leaks(failed(outcome), ['pa55-w0rd-xyz']), undefined, 'where the password stands');
  }),
  the('the key is sent again with a retry and nowhere else [P19]', async (subject) => {
    const busy = failsWith({ kind: 'busy', message: 'Busy.' });
    const { exchanges } = await askOnce(subject, [busy, busy, fine]);
    for (const { headers, url, text: sent } of exchanges) {
      const holders = [...headers].filter(([, value]) => value.includes(contractKey));
      expectEqual(holders.length, 1, 'the number of headers with the key');
      expectEqual(
        leaks([url, sent], [contractKey, encodeURIComponent(contractKey)]),
        undefined,
        'where else it stands',
      );
    }
  }),
  redirected('a redirect with 303', 303, (other) => `${other}/login`),
  redirected('a redirect with 300', 300, (other) => other),
  redirected('a redirect that names another host only', 307, (other) => other.replace('http:', '')),
  redirected('a redirect with a password in it', 308, (other) => other.replace('//', '//user:password@')),
  redirected(
    'a redirect to where the key is part of the address',
    302,
    (other) => `${other}/${encodeURIComponent(contractKey)}`,
  ),
  redirected('a redirect to a script', 301, () => 'javascript:alert(1)'),
  redirected('a redirect to a file', 307, () => 'file:///etc/passwd'),
  redirected('a redirect that leads nowhere', 308, () => 'http://[broken'),
  redirected(
    'a redirect to an address of eight thousand characters',
    302,
    (other) => `${other}/${'x'.repeat(8000)}`,
  ),
  redirects('a redirect without an address is final [P6]', async (subject) => {
    const { outcome, exchanges } = await askOnce(subject, [{ type: 'raw', status: 302 }, fine]);
    expectEqual([failed(outcome).kind, exchanges.length], ['invalid', 1], 'kind and requests');
  }),
  redirects('a redirect in a second attempt is final too [P6]', async (subject) => {
    const busy = failsWith({ kind: 'agent', message: 'Broken.' });
    const away: MockReply = { type: 'raw', status: 307, headers: { location: 'http://127.0.0.1:9/' } };
    const { outcome, exchanges } = await askOnce(subject, [busy, away, fine]);
    expectEqual(
      [failed(outcome).kind, failed(outcome).attempts, exchanges.length],
      ['invalid', 2, 2],
      'kind, attempts, requests',
    );
  }),
  redirects('a redirect whose body never ends is reported all the same [P6]', async (subject) => {
    const away: MockReply = {
      type: 'raw',
      status: 302,
      headers: { location: '/x' },
      body: 'Moved',
      ending: 'stall',
    };
    await onStage(subject, [away], async (stage) => {
      const asked = stage.ask();
      const exchange = await stage.server.arrival(0);
      await stage.settled();
      await stage.runtime.advance(20_000);
      expectEqual(
        failed(await promptly(asked, 1000, 'the request')).kind,
        'invalid',
        'the kind of the error',
      );
      await promptly(exchange.left, 1000, 'the connection');
    });
  }),
];
