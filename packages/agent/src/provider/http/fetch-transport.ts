import { AgentError } from '../../values/errors.ts';
import type { Runtime } from '../../values/runtime.ts';
import type { RawResponse, Transport } from '../wire/transport.ts';
import { joinBytes } from './bytes.ts';

/** Sends with the web's fetch, wherever there is nothing faster. */
export function fetchTransport(fetch: Runtime['fetch']): Transport {
  return async (request) => {
    const { url, headers, signal } = request;
    const response = await fetch(url, {
      method: 'POST',
      headers,
      // Request streams are not available everywhere, so the body goes out in one piece.
      body: joinBytes(request.body) as Uint8Array<ArrayBuffer>,
      signal,
      redirect: 'manual',
    });
    if (response.type === 'opaqueredirect') throw redirected();
    return rawResponse(response);
  };
}

/** The transport of this platform, for programs that choose none. */
export function defaultTransport(runtime: Runtime): Transport {
  return fetchTransport(runtime.fetch);
}

function rawResponse(response: Response): RawResponse {
  const reader = response.body?.getReader();
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    headerNames: [...response.headers.keys()],
    async read(onChunk) {
      for (;;) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) return;
        onChunk(chunk.value);
      }
    },
    close() {
      // Cancelling a body that has failed already fails again; the error is no longer of interest.
      reader?.cancel().catch(() => {});
    },
  };
}

function redirected(): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'redirect',
    message:
      'The service redirects to another address. Redirects are not followed, because the key would go along. Set the base URL to the final address.',
  });
}
