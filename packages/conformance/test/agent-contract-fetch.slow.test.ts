import { describe, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { fetching } from './subjects.ts';

/** What depends on the transport; the rest is proven over the other one. */
const groups = new Set([
  'cuts',
  'ends',
  'frames',
  'connection',
  'waits',
  'cancel',
  'secrets',
  'redirects',
  'bodies',
  'network',
  'fuzz',
]);

/** What this platform's fetch does otherwise, and no transport over it can change. */
const otherwise: Readonly<Record<string, string>> = {
  'an answer behind interim heads is the same': 'It fails for an interim head that it did not ask for.',
  'an interim head and nothing more is given up after the limit for the head [P2]':
    'It fails for an interim head that it did not ask for.',
  'a kept connection that breaks under the next request costs one request more [P5]':
    'It does not say whether anything of a request was answered, so none is sent again.',
  'the key does not appear when an encoding of that name is declared [P19]':
    'It passes an encoding over that it does not know.',
  'a proxy that wants a password is told at once, in words that help [P1]':
    'It fails for an answer that speaks to a proxy without telling which it was.',
  'a content type that a proxy adds again changes nothing': 'It joins both to one that nobody knows.',
  'a password of a proxy in the address goes nowhere else [P19]':
    'It takes no address with a password in it.',
  'five thousand interim heads are passed over': 'It fails for an interim head that it did not ask for.',
  'a service that never answers the handshake of TLS is given up after the limit for the head [P2]':
    'It lets go of a connection that is still being made in its own time.',
  'a run is cancelled in the middle of the handshake of TLS [P3]':
    'It lets go of a connection that is still being made in its own time.',
};

describe('the contract over fetch', () => {
  const cases = agentContract(fetching).filter(({ group }) => groups.has(group));
  describeContract(
    cases.map((one) => {
      const reason = otherwise[one.name];
      return reason === undefined ? one : { ...one, off: reason };
    }),
    { describe, it },
  );
});
