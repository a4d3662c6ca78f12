import type { ErrorKind } from '@cobbler/agent';
import type { Ending, ScriptFault } from '@cobbler/agent/testing';
import { expect, expectEqual, replies } from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import type { ResponsePosition } from '../setup/positions.ts';
import { needsOf, places, replyUpTo, spoken, wholePlaces } from '../setup/positions.ts';
import { askOnce, errorOf, responseOf } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const cuts = group('cuts');
const faults = group('faults');

function cutCase(place: ResponsePosition, ending: Ending): CaseDefinition {
  const { what, answer } = place;
  const how = ending === 'end' ? 'ends cleanly' : 'breaks';
  const reply = replyUpTo(place, { ending });
  return cuts(
    `a stream that ${how} ${what} is an error and is retried [P1]`,
    async (subject) => {
      const given = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
      expectEqual(
        [errorOf(given.outcome).kind, errorOf(given.outcome).retryable],
        ['network', true],
        'kind and retryable',
      );
      const { outcome } = await askOnce(subject, [reply, replies(answer)]);
      expectResponse(responseOf(outcome), answer, subject.testing);
      expectEqual(responseOf(outcome).attempts, 2, 'the attempts');
    },
    ...needsOf(place),
  );
}

/** An error inside a stream that started with status 200. */
function faultCase(place: ResponsePosition, faultKind: ScriptFault['kind'], kind: ErrorKind): CaseDefinition {
  const { what, answer } = place;
  const message = `The stream fails with ${faultKind}, number 991.`;
  const reply = replyUpTo(place, { fault: { kind: faultKind, message } });
  return faults(
    `a stream that sends the error ${faultKind} ${what} is ${kind} and is retried [P5]`,
    async (subject) => {
      const given = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
      expectEqual(
        [errorOf(given.outcome).kind, errorOf(given.outcome).retryable],
        [kind, true],
        'kind and retryable',
      );
      expect(
        errorOf(given.outcome).message.includes(message),
        `the message of the service, found ${errorOf(given.outcome).message}`,
      );
      const { outcome } = await askOnce(subject, [reply, replies(answer)]);
      expectResponse(responseOf(outcome), answer, subject.testing);
      expectEqual(responseOf(outcome).attempts, 2, 'the attempts');
    },
    'in-stream-fault',
    ...needsOf(place),
  );
}

/** Errors that the same request would get again, and their kinds. */
const finalFaults: readonly (readonly [ScriptFault['kind'], ErrorKind])[] = [
  ['invalid', 'invalid'],
  ['too_long', 'invalid'],
];

function finalCase(place: ResponsePosition, faultKind: ScriptFault['kind'], kind: ErrorKind): CaseDefinition {
  return faults(
    `a stream that sends the error ${faultKind} ${place.what} is ${kind} and not retried [P6]`,
    async (subject) => {
      const message = `No good, number 7: ${faultKind}.`;
      const { outcome, exchanges } = await askOnce(subject, [
        replyUpTo(place, { fault: { kind: faultKind, message } }),
        replies(place.answer),
      ]);
      expectEqual([errorOf(outcome).kind, errorOf(outcome).retryable], [kind, false], 'kind and retryable');
      expect(
        errorOf(outcome).message.includes(message),
        `the message of the service, found ${errorOf(outcome).message}`,
      );
      expectEqual(exchanges.length, 1, 'the number of requests');
    },
    'in-stream-fault',
    ...(faultKind === 'too_long' ? (['too-long'] as const) : []),
  );
}

export const cutCases: readonly CaseDefinition[] = [
  ...places.flatMap((place) => [cutCase(place, 'end'), cutCase(place, 'reset')]),
  cuts('a success status with an empty body is an error and is retried [P1]', async (subject) => {
    const headers = { 'content-type': subject.testing.contentType };
    const empty = { type: 'raw', status: 200, headers } as const;
    const given = await askOnce(subject, [empty], {}, { retry: { retries: 0 } });
    expectEqual(
      [errorOf(given.outcome).kind, errorOf(given.outcome).retryable],
      ['network', true],
      'kind and retryable',
    );
    const { outcome } = await askOnce(subject, [empty, replies(spoken)]);
    expectResponse(responseOf(outcome), spoken, subject.testing);
  }),
  cuts('a stream with nothing but noise is an error [P1]', async (subject) => {
    const noise = replies(spoken, { edit: () => subject.testing.noise() });
    const { outcome } = await askOnce(subject, [noise], {}, { retry: { retries: 0 } });
    expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
  }),
  ...wholePlaces.flatMap((place) => [
    faultCase(place, 'busy', 'rate_limit'),
    faultCase(place, 'rate_limit', 'rate_limit'),
    faultCase(place, 'agent', 'agent'),
  ]),
  ...finalFaults.flatMap(([type, kind]) =>
    wholePlaces.filter(({ answer }) => answer === spoken).map((place) => finalCase(place, type, kind)),
  ),
];
