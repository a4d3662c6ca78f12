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
  'P2 an interim head and nothing more is given up after the limit for the head':
    'It fails for an interim head that it did not ask for.',
  'P5 a kept connection that breaks under the next request costs one request more':
    'It does not say whether anything of a request was answered, so none is sent again.',
  'P19 the key does not appear when an encoding of that name is declared':
    'It passes an encoding over that it does not know.',
  'P1 a proxy that wants a password is told at once, in words that help':
    'It fails for an answer that speaks to a proxy without telling which it was.',
  'a content type that a proxy adds again changes nothing': 'It joins both to one that nobody knows.',
  'P19 a password of a proxy in the address goes nowhere else': 'It takes no address with a password in it.',
  'five thousand interim heads are passed over': 'It fails for an interim head that it did not ask for.',
  'P2 a service that never answers the handshake of TLS is given up after the limit for the head':
    'It lets go of a connection that is still being made in its own time.',
  'P3 a run is cancelled in the middle of the handshake of TLS':
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
