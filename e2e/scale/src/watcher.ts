import type { Cobbler } from './cobbler.ts';

/** The events of a session that a client has seen. */
export interface Seen {
  /** The stored events, each as the received JSON with its event id. */
  readonly events: { readonly id: number; readonly text: string }[];
  /** The number of the last event at each move to another process. */
  readonly moves: number[];
  /** Ends of runs that are in no store: they arrive without an id. */
  readonly unstored: string[];
  /** Frames that should never arrive. */
  readonly odd: string[];
}

/** A client that watches a session by server-sent events. */
export interface Watcher {
  readonly sessionId: string;
  readonly seen: Seen;
  /** Resolves when the end of a run has arrived. */
  readonly ended: Promise<void>;
  /** Disconnects. Resolves when the connection is closed. */
  stop(): Promise<void>;
}

/** The parts of a process that a watcher needs. */
type Streams = Pick<Cobbler, 'stream'>;

/** Delay before it connects to another process, in milliseconds. */
const pauseMs = 50;

/**
 * Watches a session at the first process and, whenever its connection breaks, at the next one, from the last event id
 * that it received. It uses only the public HTTP API.
 */
export function watchSession(sessionId: string, processes: readonly Streams[]): Watcher {
  const leaving = new AbortController();
  const seen: Seen = { events: [], moves: [], unstored: [], odd: [] };
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
  const run = async () => {
    for (let at = 0; !leaving.signal.aborted; at += 1) {
      const last = seen.events.at(-1)?.id ?? 0;
      if (at > 0) seen.moves.push(last);
      await follow(processes[at % processes.length], sessionId, last, seen, onEnd, leaving.signal);
      if (!leaving.signal.aborted) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const running = run();
  return {
    sessionId,
    seen,
    ended,
    async stop() {
      leaving.abort();
      await running;
    },
  };
}

/** Reads one stream until it breaks. */
async function follow(
  process: Streams | undefined,
  sessionId: string,
  last: number,
  seen: Seen,
  onEnd: () => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const path = `/v1/sessions/${sessionId}/events`;
    const response = await process?.stream(path, { 'last-event-id': String(last) }, signal);
    if (response?.status !== 200) {
      seen.odd.push(`status ${response?.status} instead of a stream`);
      return;
    }
    for await (const frame of frames(response.body ?? [])) take(frame, last, seen, onEnd);
  } catch {
    // The process is gone, or the watcher disconnects.
  }
}

/** Records one frame. */
function take(frame: string, last: number, { events, unstored, odd }: Seen, onEnd: () => void): void {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
  const [id, text] = [field('id'), field('data')];
  if (text === undefined) return;
  const event = JSON.parse(text) as { readonly type: string; readonly after?: number; readonly seq?: number };
  const { type, after } = event;
  if (id === undefined) {
    if (event.seq !== undefined) odd.push(`a stored event without an id: ${text}`);
    if (type === 'finished') unstored.push(text);
    if (type === 'reset') odd.push(`a server did not know event ${last}`);
    if (type === 'hello' && after !== last)
      odd.push(`requested the events after ${last}, got those after ${after}`);
    return;
  }
  events.push({ id: Number(id), text });
  if (type === 'finished') onEnd();
}

/** Yields the frames of a stream of server-sent events. */
async function* frames(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const found = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = found.pop() ?? '';
    yield* found;
  }
}
