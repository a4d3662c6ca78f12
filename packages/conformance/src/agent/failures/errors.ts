import type { ErrorKind } from '@cobbler/agent';
import type { ScriptFault, UnsupportedFeature } from '@cobbler/agent/testing';
import {
  answersStatus,
  expect,
  expectEqual,
  failsWith,
  replies,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { askOnce, errorOf, repliesTo, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = group('errors');
const onWire = socketGroup('errors');

const answer = scriptResponse(['Fine after all.']);

/** An error in the service's own format. */
function fault(
  what: string,
  faultKind: ScriptFault['kind'],
  kind: ErrorKind,
  isRetried: boolean,
  ...needs: UnsupportedFeature[]
): CaseDefinition {
  const run = async (subject: ContractSubject) => {
    const words = `Words of the service about ${faultKind}, number 4217.`;
    const reply = failsWith({ kind: faultKind, message: words });
    const { outcome, exchanges } = await askOnce(subject, [reply, reply], {}, { retry: { retries: 1 } });
    const error = errorOf(outcome);
    expectEqual([error.kind, error.retryable], [kind, isRetried], 'kind and retryable');
    if (faultKind === 'too_long') expectEqual(error.code, 'context_full', 'the code');
    expect(
      error.message.includes(words),
      `the message of the service in the message, found ${error.message}`,
    );
    expectEqual(error.provider, subject.testing.provider, 'the provider of the error');
    expectEqual(exchanges.length, isRetried ? 2 : repliesTo(subject, reply).length, 'the number of requests');
    expectEqual(error.attempts, exchanges.length, 'the attempts');
  };
  return the(`${what} is ${kind}, with the message of the service`, run, ...needs);
}

export const errorCases: readonly CaseDefinition[] = [
  fault('an overloaded service', 'busy', 'rate_limit', true),
  fault('a reached rate limit', 'rate_limit', 'rate_limit', true),
  fault('an internal error of the service', 'agent', 'agent', true),
  fault('a request that the service rejects', 'invalid', 'invalid', false),
  fault('a rejected key', 'auth', 'auth', false),
  fault('an unknown model', 'not_found', 'invalid', false, 'not-found'),
  fault('a conversation too long for the model', 'too_long', 'invalid', false, 'too-long'),
  the('the error serializes to plain data with the same fields', async (subject) => {
    const { outcome } = await askOnce(subject, [answersStatus(404)]);
    const error = errorOf(outcome);
    const data = JSON.parse(JSON.stringify(error));
    expectEqual(
      [data.kind, data.message, data.status],
      [error.kind, error.message, 404],
      'the serialized error',
    );
    expectEqual(data.stack, undefined, 'the stack in the serialized error');
  }),
  the('a conversation continues after an error', async (subject) => {
    await withSetup(subject, [answersStatus(400), replies(answer)], async (setup) => {
      errorOf(await setup.ask());
      expectResponse(responseOf(await setup.ask()), answer, subject.testing);
    });
  }),
  the(
    'a connection that breaks before a response is a network error and is retried [P5]',
    async (subject) => {
      const { outcome } = await askOnce(subject, [{ type: 'hang_up' }, replies(answer)]);
      expectResponse(responseOf(outcome), answer, subject.testing);
      const given = await askOnce(subject, [{ type: 'hang_up' }], {}, { retry: { retries: 0 } });
      expectEqual(
        [errorOf(given.outcome).kind, errorOf(given.outcome).retryable],
        ['network', true],
        'kind and retryable',
      );
    },
  ),
  onWire(
    'a refused connection is a network error with the host name and is retried for minutes [P5]',
    async (subject) => {
      // A port closed a moment ago could soon belong to a server in another test.
      const closed = 'http://127.0.0.1:2';
      await withSetup(subject, [], async (setup) => {
        const outcome = await setup.ask({}, { agent: setup.agent({ baseURL: closed }) });
        const { kind, attempts = 0 } = errorOf(outcome);
        expectEqual(kind, 'network', 'the kind of the error');
        expect(attempts > 10, `more than ten attempts, found ${attempts}`);
        expect(
          errorOf(outcome).message.includes(new URL(closed).host),
          `the host in the message, found ${errorOf(outcome).message}`,
        );
      });
    },
  ),
];
