import { z } from 'zod';
import type { Route, RouteRequest } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ReadLog } from '../sessions/log-pages.ts';
import type { Position } from '../streams/streams.ts';
import { positionOf } from '../streams/streams.ts';
import { promptBody } from './schemas.ts';
import type { Services } from './services.ts';

/** The session of the routes without a session id. */
const plainSessionId = 'default';

/** Returns the plain routes of the session `default` (requirements S4.15 to S4.17). */
export function plainRoutes({ sessionService, store, streams }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/events',
      name: 'plainEvents',
      summary: 'Streams new messages and tool calls in the session `default`.',
      scope: 'read',
      headers: {
        'Last-Event-ID':
          'The id of the last event the client received; the stream starts with the events after it.',
      },
      answers: {
        200: {
          text: 'Server-sent events of the types user, text, tool_call, tool_result, reasoning and status.',
          type: eventStream,
        },
        404: { text: 'There is no such session, and the token may not create one.' },
      },
      handle: async (call) => {
        const session = await sessionService.openOrCreate(plainSessionId, call.token, 'read');
        const read: ReadLog = (after, limit) => store.read(session.id, after, limit);
        const id = lastEventId(call);
        const position: Position =
          id === undefined ? { seq: (await store.info(session.id))?.events ?? 0, frames: 0 } : positionOf(id);
        const known = await hasEvent(position.seq, read);
        await streams.open(call, session, { form: 'plain', ...position, live: false }, { known, events: 0 });
        return undefined;
      },
    }),
    route({
      method: 'POST',
      path: '/prompt',
      name: 'plainPrompt',
      summary: 'Sends a message to the session `default`.',
      scope: 'prompt',
      body: promptBody,
      answers: {
        200: { text: 'The run has started.' },
        400: { text: 'No content.' },
        409: { text: 'A run is active.' },
      },
      handle: async ({ body, token }) => {
        sessionService.checkOpen();
        const session = await sessionService.openOrCreate(plainSessionId, token, 'prompt');
        return { status: 200, json: { status: 'ok', ...(await session.prompt(body.content, token)) } };
      },
    }),
    route({
      method: 'POST',
      path: '/cancel',
      name: 'plainCancel',
      isFree: true,
      summary: 'Stops the run in the session `default`.',
      scope: 'prompt',
      body: z.unknown(),
      bodyOptional: true,
      answers: { 200: { text: 'No run is active.' } },
      handle: async ({ token }) => {
        const { run } = await sessionService.openOrCreate(plainSessionId, token, 'prompt');
        run?.cancel();
        await run?.result;
        return { status: 200, json: { status: 'ok' } };
      },
    }),
  ];
}

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
          text: 'Server-sent events, each with one event as JSON. The SSE `id` of a stored event is its `seq`.',
          type: eventStream,
        },
        404: { text: 'There is no such session.' },
        503: { text: 'Too many event streams.' },
      },
      handle: async (call) => {
        const session = await sessionService.session(call.params['sessionId'] ?? '', call.token, 'read');
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

const eventStream = 'text/event-stream';

/** Returns the id of the last event that a client received; undefined if its request names none. */
function lastEventId({ request }: RouteRequest<unknown, unknown>): string | undefined {
  const header = request.headers['last-event-id'];
  return header === undefined || header === '' ? undefined : String(header);
}

/**
 * True if the session has the event that a client names. It does not if the store was replaced or the session
 * deleted.
 */
async function hasEvent(seq: number, read: ReadLog): Promise<boolean> {
  return seq <= 0 || (await read(seq - 1, 1))[0]?.seq === seq;
}
