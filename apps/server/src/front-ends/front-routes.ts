import type { Event, Run, RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import type { Route, RouteRequest } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import { runKey } from '../routes/schemas.ts';
import type { Services } from '../routes/services.ts';
import { liveText } from '../sessions/frame.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { ReadLog } from '../sessions/log-pages.ts';
import { logPages, pageLength } from '../sessions/log-pages.ts';
import { RunSubscription } from '../sessions/run-subscription.ts';
import type { Accepted } from '../sessions/session-ports.ts';
import type { EventStream } from '../streams/event-stream.ts';
import type { Logger } from '../telemetry/logger.ts';
import { AgUiStream, agUiSnapshot } from './ag-ui-stream.ts';
import { AiSdkStream, uiStreamEnd } from './ai-sdk-stream.ts';
import type { AgUiBody, FrontRequest } from './front-request.ts';
import { agUiBody, agUiRequest, chatBody, chatRequest } from './front-request.ts';
import { MessageExchange } from './message-exchange.ts';

type AnyCall = RouteRequest<unknown, unknown>;

const type = 'text/event-stream';
const chatPath = '/v1/sessions/{sessionId}/chat';
const chatHeaders = { 'x-vercel-ai-ui-message-stream': 'v1' };
const unknown = { text: 'There is no such session.' };
const busy = { text: 'A run is active, or the message or decision was already received.' };
const full = { text: 'Too many event streams.' };

/** Returns the routes for front ends of other projects. Each of them receives the events of our runs in its own protocol. */
export function frontRoutes(services: Services): Route[] {
  const { sessionService, streams } = services;
  return [
    route({
      method: 'POST',
      path: chatPath,
      name: 'chat',
      summary:
        'Sends the last message from a useChat page, or the approval decisions that the message contains, and streams the response.',
      scope: 'prompt',
      body: chatBody,
      answers: {
        200: { text: 'An AI SDK UI message stream.', type },
        404: unknown,
        409: busy,
        503: full,
      },
      handle: async (call) => {
        const session = await sessionService.session(call.params['sessionId'] ?? '', call.token, 'prompt');
        const request = chatRequest(call.body);
        const { accepted, events } = await beginFront(services, session, call, request);
        const start = { from: accepted.seq, isContinued: request.content === undefined };
        await openChat(services, call, session, events, start);
        return undefined;
      },
    }),
    route({
      method: 'GET',
      path: chatPath,
      name: 'resumeChat',
      summary: 'Streams the incomplete message from its start.',
      scope: 'read',
      answers: {
        200: { text: 'An AI SDK UI message stream.', type },
        204: { text: 'No run is active, and no call is waiting for approval.' },
        404: unknown,
        503: full,
      },
      handle: async (call) => {
        const session = await sessionService.session(call.params['sessionId'] ?? '', call.token, 'read');
        const events = await pendingEvents(services, session);
        if (events === undefined) return { status: 204 };
        streams.mayOpen();
        await openChat(services, call, session, events, { isContinued: false });
        return undefined;
      },
    }),
    route({
      method: 'POST',
      path: '/v1/ag-ui',
      name: 'agUi',
      summary:
        'Runs the agent on an AG-UI 1.0 input. The thread id of the input is the id of the session, which is created if needed.',
      scope: 'prompt',
      body: agUiBody,
      answers: { 200: { text: 'AG-UI 1.0 events.', type }, 409: busy, 503: full },
      handle: async (call) => {
        await openAgUi(services, call);
        return undefined;
      },
    }),
  ];
}

/** A run that a front end follows. */
export interface FollowedRun {
  readonly accepted: Accepted;
  readonly events: AsyncIterable<RunEvent>;
}

/** Starts the run that a front end requests, or finds the one that it started before. */
export async function beginFront(
  services: Services,
  session: LiveSession,
  { token }: Pick<AnyCall, 'token'>,
  { content, answers, key }: FrontRequest,
): Promise<FollowedRun> {
  const { approvals, sessionService, streams } = services;
  sessionService.checkOpen();
  streams.mayOpen();
  const runId = key !== undefined && runKey.safeParse(key).success ? key : undefined;
  const subscription = new RunSubscription(session, token);
  try {
    const accepted =
      content === undefined
        ? await approvals.answerAll(session.id, answers, { runId, mayRepeat: true, token })
        : await session.prompt(content, token, runId);
    if (subscription.has(accepted.seq)) return { accepted, events: subscription };
    subscription.stop();
    return { accepted, events: eventsSince(services, session, accepted) };
  } catch (error) {
    subscription.stop();
    throw error;
  }
}

/** Returns the events of a started run: as they occur, or from the store if it has ended. */
function eventsSince({ store }: Services, { id, run }: LiveSession, from: Accepted): AsyncIterable<RunEvent> {
  if (run?.id === from.runId) return readingOf(run);
  return storedRun((after, limit) => store.read(id, after, limit), from);
}

/**
 * Reads the events of a run, from the start of the iteration. An earlier reader would start with a partial response
 * that the log already contains by then. The run itself is not returned, because awaiting it would return its result.
 */
function readingOf(run: Run): AsyncIterable<RunEvent> {
  return { [Symbol.asyncIterator]: () => run[Symbol.asyncIterator]() };
}

/** Returns the rest of the active or waiting run; undefined if there is none. */
async function pendingEvents(
  { store }: Services,
  { id, run }: LiveSession,
): Promise<AsyncIterable<RunEvent> | undefined> {
  if (run !== undefined) return readingOf(run);
  const info = await store.info(id);
  if (info?.status !== 'waiting') return undefined;
  const read: ReadLog = (after, limit) => store.read(id, after, limit);
  const [end] = await read(info.events - 1, 1);
  return end === undefined ? undefined : storedRun(read, { runId: end.runId, seq: end.seq });
}

async function* storedRun(
  read: ReadLog,
  { runId, seq }: Pick<Accepted, 'runId' | 'seq'>,
): AsyncGenerator<Event> {
  for await (const page of logPages(read, seq - 1)) {
    for (const event of page) {
      if (event.runId !== runId) continue;
      yield event;
      if (event.type === 'finished') return;
    }
  }
}

/** Returns the events from the last user message before an event up to that event, without reading a long log completely. */
async function exchangeBefore(read: ReadLog, before: number): Promise<Event[]> {
  const events: Event[] = [];
  for (let end = before - 1; end > 0; end -= pageLength) {
    const start = Math.max(0, end - pageLength);
    const page = await read(start, end - start);
    const index = page.findLastIndex((event) => event.type === 'user' && event.steer !== true);
    events.unshift(...page.slice(Math.max(0, index)));
    if (index !== -1) return events;
  }
  return [];
}

interface ChatStart {
  /** The first event that the client does not have. If absent, the client has nothing of the message. */
  readonly from?: number;
  /** True if the client has the start of the message. */
  readonly isContinued: boolean;
}

async function openChat(
  { store, streams, logger }: Services,
  call: AnyCall,
  session: LiveSession,
  events: AsyncIterable<RunEvent>,
  start: ChatStart,
): Promise<void> {
  const { id } = session;
  const exchange = new MessageExchange();
  const chat = new AiSdkStream();
  const from = start.from ?? ((await store.info(id))?.events ?? 0) + 1;
  // A new prompt starts a new message.
  const isNew = start.from !== undefined && !start.isContinued;
  const past = isNew ? [] : await exchangeBefore((after, limit) => store.read(id, after, limit), from);
  // Runs of this message that ended as waiting: their end is not the end of the stream.
  const pastChunks = past
    .flatMap((event) => exchange.handle(event))
    .filter(({ type }) => type !== 'ended' && type !== 'waits');
  const uiChunks = start.isContinued
    ? [chat.resume(exchange.id)]
    : pastChunks.flatMap((chunk) => chat.handle(chunk));
  const last = () => chat.last().map(liveText).join('') + uiStreamEnd;
  const stream = streams.openFront(call, session, chatHeaders, last);
  stream.write(uiChunks.map(liveText).join(''));
  const write = (event: RunEvent): EncodedEvent => {
    const chunks = exchange.handle(event);
    const text = chunks.flatMap((chunk) => chat.handle(chunk)).map(liveText);
    return { text: text.join(''), isOver: chunks.some(({ type }) => type === 'waits') };
  };
  follow(stream, events, from, write).catch(onStreamError(stream, logger));
}

async function openAgUi(services: Services, call: RouteRequest<AgUiBody, unknown>): Promise<void> {
  const { sessionService, store, streams, logger } = services;
  const { threadId, runId } = call.body;
  const request = agUiRequest(call.body);
  sessionService.checkOpen();
  // Only a message creates a session.
  const session = await (request.content === undefined
    ? sessionService.session(threadId, call.token, 'prompt')
    : sessionService.openOrCreate(threadId, call.token, 'prompt'));
  const read: ReadLog = (after, limit) => store.read(threadId, after, limit);
  const before = (await store.info(threadId))?.events ?? 0;
  const { accepted, events } = await agUiRun(services, session, call, request);
  // A run that started earlier is streamed from a snapshot, because the client may have any part of it.
  const isAgain = accepted === undefined || accepted.seq <= before;
  const from = isAgain ? ((await store.info(threadId))?.events ?? 0) + 1 : accepted.seq;
  const exchange = new MessageExchange();
  const aguiStream = new AgUiStream({ threadId, runId });
  const past = await exchangeBefore(read, from);
  for (const chunk of past.flatMap((event) => exchange.handle(event))) {
    if (chunk.type !== 'ended' && chunk.type !== 'waits') aguiStream.handle(chunk);
  }
  const first = [aguiStream.start(), ...(isAgain ? agUiSnapshot(await wholeLog(read)) : [])];
  const stream = streams.openFront(call, session, {}, () => aguiStream.last().map(liveText).join(''));
  stream.write(first.map(liveText).join(''));
  const write = async (event: RunEvent): Promise<EncodedEvent> => {
    const aguiEvents: unknown[] = [];
    const chunks = exchange.handle(event);
    for (const chunk of chunks) {
      aguiEvents.push(...aguiStream.handle(chunk));
      if (chunk.type === 'void') aguiEvents.push(...agUiSnapshot(await wholeLog(read)));
    }
    return { text: aguiEvents.map(liveText).join(''), isOver: chunks.some(({ type }) => type === 'waits') };
  };
  follow(stream, events, from, write).catch(onStreamError(stream, logger));
}

/** Returns the requested run: the active one with this id, whatever its input, or a new one. */
async function agUiRun(
  services: Services,
  session: LiveSession,
  call: AnyCall,
  request: FrontRequest,
): Promise<Partial<FollowedRun> & Pick<FollowedRun, 'events'>> {
  const { run } = session;
  const { key = '', content, answers } = request;
  services.streams.mayOpen();
  if (run?.id === key) return { events: readingOf(run) };
  if (content === undefined && answers.length === 0) {
    const accepted = await session.findRun(key);
    if (accepted !== undefined) return { accepted, events: eventsSince(services, session, accepted) };
    throw new Problem(400, 'invalid_body', 'The last message must be a user message with content.');
  }
  return await beginFront(services, session, call, request);
}

async function wholeLog(read: ReadLog): Promise<Event[]> {
  const events: Event[] = [];
  for await (const page of logPages(read)) events.push(...page);
  return events;
}

interface EncodedEvent {
  readonly text: string;
  /** True if the stream ends here because a user must decide: the client acts only after its response has ended. */
  readonly isOver: boolean;
}

/** Writes the events of a run until it ends, waits or the client disconnects. Earlier events have already been written. */
async function follow(
  stream: EventStream,
  events: AsyncIterable<RunEvent>,
  from: number,
  write: (event: RunEvent) => EncodedEvent | Promise<EncodedEvent>,
): Promise<void> {
  for await (const event of events) {
    if (stream.closed) return;
    if (isStored(event) && event.seq < from && event.type !== 'finished') continue;
    const { text, isOver } = await write(event);
    if (text !== '') stream.write(text);
    if (isOver) break;
  }
  stream.end();
}

/** Returns the handler of an error while a stream is written: the stream ends, and the log has the reason. */
export function onStreamError(stream: EventStream, logger: Logger): (error: unknown) => void {
  return (error) => {
    logger.note('error', 'a stream was cut off', { reason: String(error) });
    stream.end();
  };
}
