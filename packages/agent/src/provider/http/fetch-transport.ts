import { AgentError, argumentError } from '../../values/errors.ts';
import type { Runtime } from '../../values/runtime.ts';
import type { RawResponse, Transport } from '../wire/transport.ts';
import { joinBytes } from './bytes.ts';

/** Creates a transport that uses the `fetch` function. */
export function fetchTransport(fetch: Runtime['fetch']): Transport {
  try {
    return async (request) => {
      const { url, headers, signal } = request;
      const response = await fetch(url, {
        method: 'POST',
        headers,
        // Request streams are not supported everywhere, so the body is sent as a whole.
        body: joinBytes(request.body) as Uint8Array<ArrayBuffer>,
        signal,
        redirect: 'manual',
      });
      if (response.type === 'opaqueredirect') throw redirected();
      return rawResponse(response);
    };
  } catch (thrown) {
    throw argumentError('fetchTransport', thrown);
  }
}

/** Returns the default transport of this platform. */
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
      // Cancelling a body that has already failed throws again; that error is ignored.
      reader?.cancel().catch(() => {});
    },
  };
}

function redirected(): AgentError {
  const message =
    'The service redirects to another URL. Redirects are not followed, because the key would be sent to that URL. Set the base URL to the final URL.';
  return new AgentError({ kind: 'invalid', code: 'redirect', message });
}
