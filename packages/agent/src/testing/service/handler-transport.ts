import type { RawResponse, Transport } from '../../provider/wire/transport.ts';
import type { Handler } from './wire-server.ts';

/** Creates a transport without a network: every request goes directly to a handler in the same process. */
export function handlerTransport(handler: Handler): Transport {
  return async ({ url, headers, body, signal }) => {
    signal.throwIfAborted();
    const bytes = await new Blob([...body] as BlobPart[]).arrayBuffer();
    const request = new Request(url, { method: 'POST', headers: { ...headers }, body: bytes, signal });
    return rawResponse(await unlessAborted(Promise.resolve(handler(request)), signal), signal);
  };
}

function rawResponse(response: Response, signal: AbortSignal): RawResponse {
  const reader = response.body?.getReader();
  const close = () => void reader?.cancel().catch(() => {});
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    headerNames: [...response.headers.keys()],
    async read(onChunk) {
      while (reader !== undefined) {
        const { done, value } = await unlessAborted(reader.read(), signal, close);
        if (done) return;
        onChunk(value);
      }
    },
    close,
  };
}

/** Settles like the promise, or rejects as soon as the signal aborts. */
function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
  onAbort?: () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      onAbort?.();
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
