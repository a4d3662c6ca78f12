import { readUserContent, saysSomething } from '../run/prompt.ts';
import { outcomeOf } from '../run/result.ts';
import { Run } from '../run/run.ts';
import { openSession, readStore } from '../store/open-session.ts';
import type { SessionStore } from '../store/store.ts';
import { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, read, record, text, when, withMethods } from '../values/input.ts';
import { isObject, parsedJson } from '../values/json.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { wellFormedParts } from '../values/unicode.ts';
import { PendingRun } from './pending-run.ts';

/** A store through which the processes that use it can reach each other's runs. */
export type SharedStore = Pick<SessionStore, 'claim' | 'append' | 'sessions' | 'read' | 'info' | 'snapshot'> &
  Required<Pick<SessionStore, 'send' | 'receive' | 'version'>>;

/** Options of {@link receiveRequests} and {@link followRun}. */
export interface SharedRunOptions {
  /** Interval between checks of the store, in milliseconds. Default 250. */
  readonly pollMs?: number;
  readonly runtime?: Runtime;
}

/** The active run of another process. */
export interface FollowedRun {
  /** Passes messages, decisions and a cancellation to that process, and has no live events. */
  readonly run: Run;
  /** Sends a message. Resolves to true when the log contains it, and to false if the run does not receive it. */
  steer(content: string | readonly UserPart[]): Promise<boolean>;
}

/** A message that is sent, but not in the log. */
interface UnreadMessage {
  readonly text: string;
  end(isRead: boolean): void;
}

const readSharedStore: Reader<SharedStore> = withMethods('read', 'info', 'send', 'receive', 'version');
const readOptions: Reader<SharedRunOptions> = record<SharedRunOptions>({
  pollMs: amount,
  runtime: withMethods('now', 'timer', 'id'),
});
const readRun: Reader<Run> = when((value) => value instanceof Run, 'a run');

/** Returns the store if processes can reach each other's runs through it. */
export function sharedStore(store: SessionStore): SharedStore | undefined {
  const { send, receive, version } = read(store, readStore, 'store') as SessionStore;
  return send && receive && version && (store as SharedStore);
}

/** Lets other processes steer and cancel an active run and decide its approvals, until it has ended. */
export function receiveRequests(shared: SharedStore, active: Run, options: SharedRunOptions = {}): void {
  const [store, run] = [read(shared, readSharedStore, 'store'), read(active, readRun, 'run')];
  let seen = '';
  const stop = every(read(options, readOptions, 'options'), async () => {
    const version = store.version();
    if (version === seen) return false;
    for (const request of await store.receive(run.sessionId)) apply(run, request);
    seen = version;
    return false;
  });
  void run.result.then(stop);
}

/**
 * Follows the active run of another process from its next stored event. Returns undefined if no other process runs the
 * session.
 */
export async function followRun(
  shared: SharedStore,
  id: string,
  given: SharedRunOptions = {},
): Promise<FollowedRun | undefined> {
  const [store, sessionId] = [read(shared, readSharedStore, 'store'), read(id, text, 'sessionId')];
  const options = read(given, readOptions, 'options');
  const isActive = async () => (await store.info(sessionId))?.status === 'running';
  if (!(await isActive())) return undefined;
  const { seq, runId, finished } = await openSession(store, sessionId);
  if (finished !== undefined || runId === '') return undefined;
  // Only the store knows which process holds the session: a run here whose end could not be stored looks the same.
  if (!(await store.send(sessionId, '{}'))) return undefined;
  let last = seq;
  let isOver = false;
  const pass = async (request: object) =>
    await Promise.resolve(store.send(sessionId, JSON.stringify(request))).catch(() => false);
  const send = (request: object) => {
    if (!isOver) void pass(request);
    return !isOver;
  };
  /** The messages that the log does not contain yet. */
  const unread = new Set<UnreadMessage>();
  const settle = (message: UnreadMessage, isRead: boolean) => {
    unread.delete(message);
    message.end(isRead);
  };
  const steer = async (given: string | readonly UserPart[]) => {
    const content = readUserContent(given);
    if (isOver || !saysSomething(content)) return false;
    const { promise, resolve: end } = Promise.withResolvers<boolean>();
    const message = { text: JSON.stringify(wellFormedParts(content)), end };
    unread.add(message);
    if (!(await pass({ type: 'steer', content }))) settle(message, false);
    return await promise;
  };
  const held = new PendingRun(
    { id: runId, sessionId },
    {
      cancel: () => send({ type: 'cancel' }),
      steer: (content) => {
        void steer(content);
        return !isOver;
      },
      decide: (approvalId, answer) => send({ type: 'decide', approvalId, answer }),
    },
  );
  every(options, async () => {
    // Checked before the log is read: after the run has ended, the log contains all its events.
    const wasActive = await isActive();
    for (const event of await store.read(sessionId, last)) {
      last = event.seq;
      isOver ||= event.type === 'finished' || event.runId !== runId;
      if (event.runId === runId) held.show(event);
      if (event.type === 'user' && event.steer === true) {
        const text = JSON.stringify(event.content);
        const message = [...unread].find((one) => one.text === text);
        if (message !== undefined) settle(message, true);
      }
      if (!isOver) continue;
      held.end(outcomeOf(await openSession(store, sessionId), { sessionId, runId }));
      return true;
    }
    isOver = !wasActive;
    if (isOver) held.refuse(noEnding(), options.runtime ?? systemRuntime);
    return isOver;
  });
  void held.run.result.then(() => {
    for (const message of unread) settle(message, false);
  });
  return { run: held.run, steer };
}

/**
 * Calls a function at intervals until it returns true. A failure, such as of a busy store, may pass. Returns a function
 * that ends this.
 */
function every(
  { pollMs = 250, runtime = systemRuntime }: SharedRunOptions,
  look: () => Promise<boolean>,
): () => void {
  let isOver = false;
  let cancel: () => void;
  const wait = () => {
    cancel = runtime.timer(pollMs, async () => {
      isOver ||= await look().catch(() => false);
      if (!isOver) wait();
    });
  };
  wait();
  return () => {
    isOver = true;
    cancel();
  };
}

/** The run reads what a request contains, so that an invalid one has no effect. */
function apply(run: Run, sent: string): void {
  const request = parsedJson(sent);
  if (!isObject(request)) return;
  const { type, content, approvalId, answer } = request;
  try {
    if (type === 'cancel') run.cancel();
    else if (type === 'steer') run.steer(content as string);
    else if (type === 'decide') run.decide(String(approvalId), answer as never);
  } catch (error) {
    if (!AgentError.is(error)) throw error;
  }
}

function noEnding(): AgentError {
  const message = 'The process that ran this session has ended. Resume the session to continue its run.';
  return new AgentError({ kind: 'agent', code: 'no_ending', message });
}
