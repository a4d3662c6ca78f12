import type { RawResponse } from '@cobbler/agent/provider';
import { fieldsOf, textIn } from '../values/fields.ts';

const encoder = new TextEncoder();

/** The header name under which Cobbler reads request ids; some services use a different one. */
export const requestIdHeader = 'x-request-id';
const idNames = [requestIdHeader, 'request-id', 'x-amzn-requestid', 'cf-ray'];

/** Returns a response that also finds the request id of services with a different header under `requestIdHeader`. */
export function withRequestId(raw: RawResponse): RawResponse {
  const id = () => idNames.map((name) => raw.header(name)).find(Boolean);
  return {
    status: raw.status,
    headerNames: raw.headerNames,
    header: (name) => (name === requestIdHeader ? id() : raw.header(name)),
    read: (onChunk) => raw.read(onChunk),
    close: () => raw.close(),
  };
}

/** Creates a response from one received by another transport, with its headers and its body so far. */
export function plainResponse(
  status: number,
  headers: Readonly<Record<string, string | undefined>> = {},
  body = '',
): RawResponse {
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return withRequestId({
    status,
    headerNames: [...values.keys()],
    header: (name) => values.get(name),
    async read(onChunk) {
      if (body !== '') onChunk(encoder.encode(body));
    },
    close() {},
  });
}

/** Returns the response described by an error of the SDK, the only source for models with their own connection. */
export function answersLike(error: unknown): RawResponse | undefined {
  const { statusCode, responseHeaders, responseBody, message } = fieldsOf(error);
  if (typeof statusCode !== 'number' || statusCode < 400) return undefined;
  const body = textIn(responseBody) ?? String(message);
  return plainResponse(statusCode, fieldsOf(responseHeaders) as Record<string, string>, body);
}
