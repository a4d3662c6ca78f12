import type { RouteRequest } from '../http/route.ts';
import type { ReadLog } from '../sessions/log-pages.ts';

/** The media type of an event stream. */
export const eventStream = 'text/event-stream';

/** Returns the id of the last event that a client received; undefined if its request names none. */
export function lastEventId({ request }: RouteRequest<unknown, unknown>): string | undefined {
  const header = request.headers['last-event-id'];
  return header === undefined || header === '' ? undefined : String(header);
}

/**
 * True if the session has the event that a client names. It does not if the store was replaced or the session
 * deleted.
 */
export async function hasEvent(seq: number, read: ReadLog): Promise<boolean> {
  return seq <= 0 || (await read(seq - 1, 1))[0]?.seq === seq;
}
