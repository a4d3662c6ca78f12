import { outcomeOf } from '../run/result.ts';
import { Run } from '../run/run.ts';
import { openSession, readStore } from '../store/open-session.ts';
import type { SessionStore } from '../store/store.ts';
import { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, read, record, text, when, withMethods } from '../values/input.ts';
import { isObject, parsedJson } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { PendingRun } from './pending-run.ts';

/** A store through which the processes that use it reach the runs of each other. */
export type SharedStore = Pick<SessionStore, 'claim' | 'append' | 'sessions' | 'read' | 'info' | 'snapshot'> &
  Required<Pick<SessionStore, 'send' | 'receive' | 'version'>>;

/** Options of {@link receiveRequests} and {@link followRun}. */
export interface SharedRunOptions {
  /** Interval of looks at the store, in milliseconds. Default 250. */
  readonly pollMs?: number;
  readonly runtime?: Runtime;
}

const readSharedStore: Reader<SharedStore> = withMethods('read', 'info', 'send', 'receive', 'version');
const readOptions: Reader<SharedRunOptions> = record<SharedRunOptions>({
  pollMs: amount,
  runtime: withMethods('now', 'timer', 'id'),
});
const readRun: Reader<Run> = when((value) => value instanceof Run, 'a run');

/** Returns the store if processes can reach the runs of each other through it. */
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
 * Follows the active run of another process from its next stored event. The run that it returns passes messages, decisions
 * and a cancellation to that process, and has no live events. Returns undefined if no other process runs the session. The
 * result is an object, because an async function would await a returned run.
 */
export async function followRun(
  shared: SharedStore,
  id: string,
  given: SharedRunOptions = {},
): Promise<{ readonly run: Run } | undefined> {
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
  const send = (request: object) => {
    if (!isOver) void Promise.resolve(store.send(sessionId, JSON.stringify(request))).catch(() => undefined);
    return !isOver;
  };
  const held = new PendingRun(
    { id: runId, sessionId },
    {
      cancel: () => send({ type: 'cancel' }),
      steer: (content) => send({ type: 'steer', content }),
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
      if (!isOver) continue;
      held.end(outcomeOf(await openSession(store, sessionId), { sessionId, runId }));
      return true;
    }
    isOver = !wasActive;
    if (isOver) held.refuse(noEnding(), options.runtime ?? systemRuntime);
    return isOver;
  });
  return held;
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
