import { systemRuntime } from '@cobbler/agent';
import type { ContractCase, Handler } from '@cobbler/agent/testing';
import type { HttpResponseResolver, RequestHandler } from 'msw';
import { HttpResponse } from 'msw';
import type { AgentContractOptions } from '../agent/agent-contract.ts';
import type { ContractSubject } from '../agent/setup/subject.ts';

/** A provider to test whose mock service is msw handlers. */
export interface MockedSubject extends ContractSubject {
  /**
   * Returns the mock service as msw handlers, such as ``[http.post(`${baseURL}/v1/messages`, service)]``.
   *
   * @param baseURL the address of the service; may contain msw's wildcard `*`.
   * @param service responds to a request with the provider's mock wire.
   */
  handlers(baseURL: string, service: HttpResponseResolver): readonly RequestHandler[];
  /** Returns the cases. Default: `agentContract`. */
  contract?(subject: ContractSubject, options?: AgentContractOptions): readonly ContractCase[];
}

/**
 * Converts a handler, such as that of a `wireServer`, to an msw resolver. A handler that rejects becomes a
 * network error.
 */
export function mockResolver(handler: Handler): HttpResponseResolver {
  return async ({ request }) => {
    try {
      return streamed(await handler(request));
    } catch {
      return HttpResponse.error();
    }
  };
}

/** Maximum number of body bytes sent in one turn of the event loop. */
const maxBurst = 256 * 1024;

/**
 * Adds to a body three properties that a server provides and msw does not. It is chunked, because a client
 * could not distinguish any other end from a broken connection. Its headers do not wait for the first byte.
 * It yields to the event loop, because msw reads a body of any length without yielding.
 */
function streamed({ body, status, statusText, headers }: Response): Response {
  if (body === null) return new Response(null, { status, statusText, headers });
  if (!headers.has('content-length')) headers.set('transfer-encoding', 'chunked');
  const reader = body.getReader();
  let isHeadSent = false;
  let burst = 0;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (!isHeadSent) {
      isHeadSent = true;
      return controller.enqueue(new Uint8Array());
    }
    if (burst >= maxBurst) {
      burst = 0;
      await new Promise<void>((resolve) => systemRuntime.timer(0, resolve));
    }
    const { done, value } = await reader.read();
    if (done) return controller.close();
    burst += value.length;
    controller.enqueue(value);
  };
  const stream = new ReadableStream(
    { pull, cancel: (reason) => reader.cancel(reason) },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, statusText, headers });
}
