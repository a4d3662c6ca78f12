import { AgentError } from '@cobbler/agent';
import type { MockReply } from '@cobbler/agent/testing';
import { expect, expectEqual, failsWith, replies, scriptResponse } from '@cobbler/agent/testing';
import { leaks } from '../setup/leak.ts';
import { askOnce, contractKey, errorOf, repliesTo, responseOf } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = group('secrets');
const onWire = socketGroup('secrets');

const fine = replies(scriptResponse(['Fine.']));

/** Fails if any representation of the error contains the key or more than half of it. */
export async function expectClean(error: AgentError): Promise<void> {
  const { inspect } = await import('node:util');
  const half = contractKey.slice(0, Math.ceil(contractKey.length / 2) + 2);
  const forms = {
    fields: error,
    text: String(error),
    stack: error.stack,
    json: JSON.stringify(error),
    inspect: inspect(error, { showHidden: true, depth: 20 }),
    again: AgentError.from(error).message,
  };
  const found = leaks(forms, [contractKey, half, encodeURIComponent(contractKey)]);
  expect(found === undefined, `the key to appear nowhere, found it in ${found}`);
}

/** A reply that repeats the key. The error must not contain the key but must have a message. */
function hidesKey(what: string, replyFor: (subject: ContractSubject) => MockReply): CaseDefinition {
  return the(`the key does not appear when ${what} [P19]`, async (subject) => {
    const script = repliesTo(subject, replyFor(subject));
    const { outcome } = await askOnce(subject, script, {}, { retry: { retries: 0 } });
    expect(errorOf(outcome).message.length > 5, 'an error with a message');
    await expectClean(errorOf(outcome));
  });
}

function html(status: number, body: string): MockReply {
  return { type: 'raw', status, headers: { 'content-type': 'text/html' }, body };
}

export const secretCases: readonly CaseDefinition[] = [
  hidesKey('the service rejects it and repeats it', () =>
    failsWith({ kind: 'auth', message: 'No such key' }),
  ),
  hidesKey('the service includes it in a message', () =>
    failsWith({ kind: 'invalid', message: `Key ${contractKey} (${contractKey}) may not.` }),
  ),
  hidesKey('a gateway repeats the headers', () =>
    html(502, `<pre>authorization: Bearer ${contractKey}\nx-api-key: ${contractKey}</pre>`),
  ),
  hidesKey('a page with a success status repeats it', () =>
    html(200, `<html>Your key ${contractKey} is fine</html>`),
  ),
  hidesKey('a redirect address contains it', () => ({
    type: 'raw',
    status: 307,
    headers: { location: `http://127.0.0.1:9/?key=${encodeURIComponent(contractKey)}` },
  })),
  hidesKey('the request id is the key', (subject) => ({
    ...failsWith({ kind: 'agent', message: 'Broken.' }, idHeaders(subject)),
  })),
  hidesKey('a long message is truncated in the middle of the key', () =>
    failsWith({ kind: 'invalid', message: `${'x'.repeat(1985)}${contractKey} and more` }),
  ),
  hidesKey('a long body is truncated in the middle of the key', () =>
    html(500, `${'x'.repeat(16 * 1024 - 12)}${contractKey} and more`),
  ),
  hidesKey('a message is truncated at any length', () =>
    failsWith({ kind: 'invalid', message: `${contractKey} `.repeat(200) }),
  ),
  the(
    'the key does not appear when a stream repeats it [P19]',
    async (subject) => {
      const reply = replies(scriptResponse(['Hm.']), {
        steps: [],
        fault: { kind: 'agent', message: `Failed for ${contractKey}.` },
      });
      const { outcome } = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
      expect(errorOf(outcome).message.includes('Failed for'), 'the message of the service');
      await expectClean(errorOf(outcome));
    },
    'in-stream-fault',
  ),
  the('the key does not appear in the events of a retry [P19]', async (subject) => {
    const reply = failsWith({ kind: 'busy', message: `Too busy for ${contractKey}.` });
    const { outcome } = await askOnce(subject, [reply, fine]);
    responseOf(outcome);
    const retry = outcome.events.find(({ type }) => type === 'retry');
    expect(
      retry?.type === 'retry' && retry.error.message.includes('Too busy for'),
      'the message of the service',
    );
    expectEqual(
      leaks(outcome.events, [contractKey]),
      undefined,
      'the path where the key appears in the events',
    );
  }),
  onWire(
    'the key does not appear when the connection to an address that contains it is refused [P19]',
    async (subject) => {
      const { outcome } = await askOnce(
        subject,
        [],
        {},
        { baseURL: `http://127.0.0.1:1/${encodeURIComponent(contractKey)}` },
      );
      await expectClean(errorOf(outcome));
    },
  ),
];

/**
 * Returns all headers that the mock wire sends with a response, with the key as their value. One of them is
 * the request id.
 */
function idHeaders({ testing }: ContractSubject): Record<string, string> {
  return Object.fromEntries(
    Object.keys(testing.head?.headers ?? { 'x-request-id': '' }).map((name) => [name, contractKey]),
  );
}
