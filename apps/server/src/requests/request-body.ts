import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { Problem } from './problem.ts';

/** Factor of the size limit up to which a rejected body is still read, so that its sender receives the response. */
const wasteFactor = 16;

/** Reads the body of a request as JSON. Other content types are rejected. @throws Problem 400, 413 or 415 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const { headers } = request;
  const declared = Number(headers['content-length'] ?? 0);
  const isEmpty = declared === 0 && headers['transfer-encoding'] === undefined;
  if (isEmpty) return undefined;
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    discard(request, maxBytes);
    throw new Problem(415, 'media_type', 'The content type must be application/json.');
  }
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    discard(request, maxBytes);
    throw new Problem(415, 'encoding', 'The body must not be compressed.');
  }
  const text = await readText(request, declared, maxBytes);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(400, 'invalid_body', 'invalid request body: it is not JSON');
  }
}

/** Validates a value from a request. @throws Problem 400 */
export function validate<Value>(schema: z.ZodType<Value>, value: unknown, code: string): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') ?? '';
  const reason = issue?.message ?? 'it is invalid';
  const detail = reason.startsWith(place) ? reason : `${place}: ${reason}`;
  throw new Problem(400, code, value === undefined ? 'invalid request body: it is empty' : detail);
}

async function readText(request: IncomingMessage, declared: number, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (declared > maxBytes) return refuse(request, maxBytes);
  return await new Promise((resolve, reject) => {
    const onData = (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= maxBytes) return void chunks.push(chunk);
      request.off('data', onData);
      discard(request, maxBytes);
      reject(tooLarge(maxBytes));
    };
    request.on('data', onData);
    request.once('end', () => resolve(new TextDecoder().decode(Buffer.concat(chunks))));
    request.once('error', () =>
      reject(new Problem(400, 'cut_body', 'The request ended in the middle of its body.')),
    );
    request.once('close', () =>
      reject(new Problem(400, 'cut_body', 'The request ended in the middle of its body.')),
    );
  });
}

function refuse(request: IncomingMessage, maxBytes: number): never {
  discard(request, maxBytes);
  throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(413, 'body_too_large', `The body exceeds ${maxBytes} bytes. Send less in one request.`);
}

/** Reads and drops a rejected body, up to a limit. */
function discard(request: IncomingMessage, maxBytes: number): void {
  let wasted = 0;
  request.on('data', (chunk: Uint8Array) => {
    wasted += chunk.length;
    if (wasted > maxBytes * wasteFactor) request.socket.destroy();
  });
  request.on('error', () => undefined);
  request.resume();
}
