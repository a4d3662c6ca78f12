import type { TransportRequest } from '@cobbler/agent/provider';

const encoder = new TextEncoder();

/** A request of fetch as our transports take it. */
export async function requestOf(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<TransportRequest> {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
  const headers = Object.fromEntries(new Headers(init?.headers));
  return { url, headers, body: [await bytesOf(init?.body)], signal };
}

async function bytesOf(body: RequestInit['body']): Promise<Uint8Array> {
  if (typeof body === 'string') return encoder.encode(body);
  return new Uint8Array(await new Response(body ?? null).arrayBuffer());
}
