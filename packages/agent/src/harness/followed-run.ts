import { outcomeOf } from '../run/result.ts';
import type { Run } from '../run/run.ts';
import { openSession } from '../store/open-session.ts';
import type { SessionStore } from '../store/store.ts';
import { AgentError } from '../values/errors.ts';
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

/** Returns the store if processes can reach the runs of each other through it. */
export function sharedStore(store: SessionStore): SharedStore | undefined {
  const { send, receive, version } = store;
  return send && receive && version && (store as SharedStore);
}

/** Lets other processes steer and cancel an active run and decide its approvals, until it has ended. */
export function receiveRequests(store: SharedStore, run: Run, options: SharedRunOptions = {}): void {
  let seen = '';
  const stop = every(options, async () => {
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
  store: SharedStore,
  sessionId: string,
  options: SharedRunOptions = {},
): Promise<{ readonly run: Run } | undefined> {
  const isActive = async () => (await store.info(sessionId))?.status === 'running';
  if (!(await isActive())) return undefined;
  const { seq, runId, finished } = await openSession(store, sessionId);
  if (finished !== undefined || runId === '') return undefined;
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
function apply(run: Run, text: string): void {
  const request = parsedJson(text);
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
