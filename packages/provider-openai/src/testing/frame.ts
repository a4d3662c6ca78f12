import { isFields } from '../fields.ts';

/** A server-sent event. The Responses API names each event by its type as well; Chat Completions names none. */
export function frame(payload: unknown): string {
  const data = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const type = isFields(payload) && typeof payload['type'] === 'string' ? `event: ${payload['type']}\n` : '';
  return `${type}data: ${data}\n\n`;
}
