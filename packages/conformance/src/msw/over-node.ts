import { nodeTransport } from '@cobbler/agent/node';
import { serveLoopback } from '@cobbler/agent/testing';
import { getResponse } from 'msw';
import type { ContractSubject } from '../agent/setup/subject.ts';
import type { MockedSubject } from './mocked-subject.ts';
import { mockResolver } from './mocked-subject.ts';

/**
 * Returns the subject over Node's transport, with a server on 127.0.0.1 that responds with the handlers of the
 * subject.
 */
export function overNode(subject: MockedSubject): ContractSubject {
  const serve: NonNullable<ContractSubject['network']>['serve'] = (handler) => {
    const handlers = [...subject.handlers('*', mockResolver(handler))];
    return serveLoopback(async (request) => {
      const response = await getResponse(handlers, request);
      if (response === undefined) return new Response(`No handler matches ${request.url}.`, { status: 404 });
      if (response.type === 'error') throw new Error('The connection was lost before there was a response.');
      return response;
    });
  };
  return { ...subject, network: { serve, transport: nodeTransport() } };
}
