import { describe, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { fetching } from './subjects.ts';

/** The groups that depend on the transport. The other groups are tested over the other transport. */
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

/** Cases that this platform's fetch cannot pass, with the reasons. */
const otherwise: Readonly<Record<string, string>> = {
  'a response after interim responses is valid': 'fetch rejects an interim response that it did not request',
  'the headers timeout applies to an interim response and nothing more [P2]':
    'fetch rejects an interim response that it did not request',
  'a kept-alive connection that breaks during the next request costs one request more [P5]':
    'fetch does not report whether part of a response arrived, so no request is repeated',
  'the key does not appear when it is declared as the content encoding [P19]':
    'fetch ignores an unknown content encoding',
  'a proxy that requires a password is reported immediately with a clear message [P1]':
    'fetch rejects a response with status 407 without reporting the status',
  'a content type that a proxy repeats changes nothing':
    'fetch joins both values into an unknown content type',
  'a proxy password in the address is sent nowhere else [P19]':
    'fetch accepts no address with a password in it',
  'five thousand interim responses are ignored': 'fetch rejects an interim response that it did not request',
  'the headers timeout ends a request whose TLS handshake hangs [P2]':
    'fetch decides itself when it closes a connection that is not established yet',
  'a run can be cancelled during a TLS handshake [P3]':
    'fetch decides itself when it closes a connection that is not established yet',
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
