import { z } from 'zod';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { positionOf } from '../streams/streams.ts';
import type { Services } from './services.ts';
import { eventStream, hasEvent, lastEventId } from './stream-position.ts';

/** Returns the routes that stream the stored and the new events of a session. */
export function eventRoutes({ sessionService, store, streams }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/events',
      name: 'watch',
      summary:
        'Streams events: a `hello` with the heartbeat interval, the stored events, then new events as they occur.',
      scope: 'read',
      query: z.strictObject({
        after: z.string().default('0'),
        deltas: z.enum(['true', 'false']).default('true'),
      }),
      headers: { 'Last-Event-ID': 'The id of the last event the client received. Overrides `after`.' },
      answers: {
        200: {
          text: 'Server-sent events, each with one event as JSON; the SSE `id` of a stored event is its `seq`.',
          type: eventStream,
        },
        404: { text: 'There is no such session.' },
        503: { text: 'Too many event streams.' },
      },
      handle: async (call) => {
        const session = await sessionService.session(call.params['sessionId'] ?? '');
        const { seq } = positionOf(lastEventId(call) ?? call.query.after);
        const known = await hasEvent(seq, (after, limit) => store.read(session.id, after, limit));
        const place = { form: 'versioned', seq, live: call.query.deltas === 'true' } as const;
        const events = (await store.info(session.id))?.events ?? 0;
        await streams.open(call, session, place, { known, events });
        return undefined;
      },
    }),
  ];
}
