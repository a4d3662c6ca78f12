import { systemRuntime } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import type { Handler, Loopback } from '@cobbler/agent/testing';
import { setupServer } from 'msw/node';
import type { ContractSubject } from '../agent/setup/subject.ts';
import type { MockedSubject } from './mocked-subject.ts';
import { mockResolver } from './mocked-subject.ts';

/** Each service has its own address, so that no case reuses a connection of another one. */
let services = 0;

const noSockets =
  'a msw handler returns a Response: it cannot write raw bytes to a socket or listen at an address';

/** The reasons, by group and name of a case. */
const impossible: Readonly<Record<string, string>> = {
  'arguments: arguments of 16 MiB use no more memory than the limit allows [P11]':
    'msw keeps a copy of a body until its end',
  'network: a proxy password in the address is sent nowhere else [P19]':
    'fetch accepts no address with a password in it',
  'secrets: the key does not appear when it is declared as the content encoding [P19]':
    'fetch ignores an unknown content encoding',
  'status: status 407 is invalid and not retried, whatever hint it has [P6]':
    'fetch reports status 407 as a failed connection',
  'status: status 421 is invalid and not retried, whatever hint it has [P6]':
    'fetch repeats a request that gets status 421',
};

/**
 * Returns the subject over the global fetch, which msw intercepts with the handlers of the subject. A request
 * that no handler matches fails. One case runs at a time, because msw intercepts the whole process.
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
