import { systemRuntime } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import type { Handler, Loopback } from '@cobbler/agent/testing';
import { setupServer } from 'msw/node';
import type { ContractSubject } from '../agent/setup/subject.ts';
import type { MockedSubject } from './mocked-subject.ts';
import { mockResolver } from './mocked-subject.ts';

/** Each service has an address of its own, so that no connection of one case is kept for another. */
let services = 0;

const noSockets =
  'a msw handler returns a Response: it cannot write raw bytes to a socket or listen at an address';

/** By group and name. */
const impossible: Readonly<Record<string, string>> = {
  'arguments: arguments that go on for 16 MiB hold no more memory than the limit allows [P11]':
    'msw keeps a copy of a body until its end',
  'network: a password of a proxy in the address goes nowhere else [P19]':
    'fetch accepts no address with a password in it',
  'secrets: the key does not appear when an encoding of that name is declared [P19]':
    'fetch ignores a content encoding that it does not know',
  'status: status 407 is invalid and final, whatever hint comes with it [P6]':
    'fetch reports status 407 as a failed connection',
  'status: status 421 is invalid and final, whatever hint comes with it [P6]':
    'fetch repeats a request that is answered with status 421',
};

/**
 * Returns the subject over the web's fetch, which msw intercepts with the handlers of the subject. A request that no
 * handler matches fails. One case runs at a time, because msw intercepts the whole process.
 */
export function overFetch(subject: MockedSubject): ContractSubject {
  const serve = async (handler: Handler): Promise<Loopback> => {
    services += 1;
    const url = `http://service-${services}.test`;
    const network = setupServer(...subject.handlers(`${url}*`, mockResolver(handler)));
    network.listen({ onUnhandledFrame: 'error' });
    return { url, close: async () => network.close() };
  };
  const transport = fetchTransport(systemRuntime.fetch);
  return { ...subject, network: { serve, transport, noSockets, impossible } };
}
