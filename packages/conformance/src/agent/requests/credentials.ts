import { expect, expectEqual, failsWith, replies, scriptResponse } from '@cobbler/agent/testing';
import { leaks } from '../setup/leak.ts';
import type { WireFixture } from '../setup/setup.ts';
import { contractKey, errorOf, promptly, responseOf, soon, withSetup } from '../setup/setup.ts';
import type { AgentLink, CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('credentials');

const fine = replies(scriptResponse(['Fine.']));
const secondKey = 'sk-second-$&.*+-9b1c';
const thirdKey = 'sk-third-$&.*+-77e0';

/** A fixture whose agent asks for its key. */
interface KeySetup extends WireFixture {
  /** The number of times that the agent asked for the key. */
  asked(): number;
}

/** Runs a case with an agent that gets the valid key, without retries. */
async function withKeys(
  subject: ContractSubject,
  act: (setup: KeySetup) => Promise<void>,
  {
    script = () => fine,
    currentKey,
    ...link
  }: Partial<AgentLink> & { readonly script?: Parameters<typeof withSetup>[1] } = {},
): Promise<void> {
  await withSetup(subject, script, async (setup) => {
    let asked = 0;
    const agent = setup.agent({
      retry: { retries: 0 },
      ...link,
      async currentKey() {
        asked += 1;
        // Requests at the same time wait for the same key.
        await soon();
        return currentKey === undefined ? (setup.keys.at(-1) ?? '') : await currentKey();
      },
    });
    const ask: WireFixture['ask'] = (request, how) => setup.ask(request, { agent, ...how });
    await act({ ...setup, ask, asked: () => asked });
  });
}

/** The cases of a subject that `rotates`. */
export const credentialCases: readonly CaseDefinition[] = [
  the('a key that expires is replaced at once, without a retry', (subject) =>
    withKeys(subject, async ({ ask, asked, keys, server }) => {
      expectEqual(responseOf(await ask()).attempts, 1, 'the attempts with a valid key');
      keys.push(secondKey);
      const outcome = await ask();
      expectEqual(
        [responseOf(outcome).content, outcome.response?.attempts],
        ['Fine.', 2],
        'text and attempts',
      );
      expect(
        outcome.events.every(({ type }) => type !== 'retry'),
        'no event of a retry',
      );
      expectEqual(responseOf(await ask()).attempts, 1, 'the attempts with the new key');
      expectEqual([asked(), server.exchanges.length], [2, 4], 'the keys and requests');
    }),
  ),
  the('requests at the same time share one new key', (subject) =>
    withKeys(subject, async ({ ask, asked, keys, server }) => {
      const five = () => Promise.all(Array.from({ length: 5 }, () => ask()));
      for (const outcome of await five()) responseOf(outcome);
      expectEqual(asked(), 1, 'the number of keys for the first requests');
      keys.push(secondKey);
      for (const outcome of await five()) responseOf(outcome);
      expectEqual(asked(), 2, 'the number of keys');
      expect(server.exchanges.length <= 15, `at most 15 requests, found ${server.exchanges.length}`);
    }),
  ),
  the('a key that is rejected again is an error and not retried [P6]', (subject) =>
    withKeys(
      subject,
      async ({ ask, asked, keys, server }) => {
        keys.push(secondKey);
        const outcome = await ask();
        const { kind, retryable, attempts } = errorOf(outcome);
        expectEqual([kind, retryable, attempts], ['auth', false, 2], 'kind, retryable and attempts');
        expectEqual([asked(), server.exchanges.length], [2, 2], 'the keys and requests');
        expectEqual(outcome.events, [], 'the events');
      },
      { currentKey: async () => contractKey, retry: { retries: 3 } },
    ),
  ),
  the('a key that expires between two attempts is replaced too [P5]', (subject) =>
    withKeys(
      subject,
      async ({ ask, asked, keys }) => {
        const emit = ({ type }: { readonly type: string }) => type === 'retry' && keys.push(secondKey);
        const outcome = await ask({}, { emit });
        expectEqual([responseOf(outcome).attempts, asked()], [3, 2], 'attempts and keys');
      },
      {
        script: (_, index) => (index === 0 ? failsWith({ kind: 'busy', message: 'Busy.' }) : fine),
        retry: { retries: 1 },
      },
    ),
  ),
  the('no key appears in an error, neither the old one nor the new one [P19]', async (subject) => {
    const given = [contractKey, secondKey];
    const all = [contractKey, secondKey, thirdKey];
    await withKeys(
      subject,
      async ({ ask, keys }) => {
        // The service repeats each key that it rejects.
        keys.push(secondKey, thirdKey);
        expectEqual(leaks(errorOf(await ask()), all), undefined, 'the path where a rejected key appears');
      },
      { currentKey: async () => given.shift() ?? secondKey },
    );
    await withKeys(
      subject,
      async ({ ask, keys }) => {
        responseOf(await ask());
        keys.push(secondKey);
        expectEqual(leaks(errorOf(await ask()), all), undefined, 'the path where the new key appears');
      },
      {
        script: (_, index) =>
          index === 0 ? fine : failsWith({ kind: 'invalid', message: `No: ${secondKey}.` }),
      },
    );
  }),
  the('a key that is not available is an error, and nothing is sent', (subject) =>
    withKeys(
      subject,
      async ({ ask, server }) => {
        const { kind, message } = errorOf(await ask());
        expectEqual([kind, server.exchanges.length], ['auth', 0], 'kind and requests');
        expect(message.includes('The vault is locked'), `the reason in the message, found ${message}`);
      },
      { currentKey: () => Promise.reject(new Error('The vault is locked')) },
    ),
  ),
  the('a run can be cancelled while it waits for a key, and nothing is sent [P3]', (subject) =>
    withKeys(
      subject,
      async ({ ask, server, untilSettled }) => {
        const controller = new AbortController();
        const asked = ask({}, { signal: controller.signal });
        await untilSettled();
        controller.abort();
        const error = errorOf(await promptly(asked, 250, 'the cancelled run'));
        expectEqual([error.kind, server.exchanges.length], ['aborted', 0], 'kind and requests');
      },
      { currentKey: () => new Promise(() => {}) },
    ),
  ),
];
