import { isObject } from '../fields.ts';

/** Formats a server-sent event. The Responses API also names each event by its type; Chat Completions does not. */
export function frame(payload: unknown): string {
  const data = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const type = isObject(payload) && typeof payload['type'] === 'string' ? `event: ${payload['type']}\n` : '';
  return `${type}data: ${data}\n\n`;
}
