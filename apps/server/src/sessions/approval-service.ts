import type { ApprovalDecision, Event, Run, RunEvent, SessionInfo, SessionStore } from '@cobbler/agent';
import { isStored, openSession } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { checkMore, ignore, openRequests } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';
import type { TokenInfo } from '../auth/token-store.ts';
import { Problem } from '../requests/problem.ts';
import { allows } from '../requests/scope.ts';
import type { LiveSession } from './live-session.ts';
import { logPages } from './log-pages.ts';
import { sessionsSince } from './session-index.ts';
import type { SessionPlaces } from './session-places.ts';
import type { Accepted } from './session-ports.ts';
import type { SessionService } from './session-service.ts';

/** The fields of a request that only its log needs, or that have another form here. */
type LogFields = 'type' | 'turn' | 'index' | 'callId' | 'changes' | 'expiresAt';

/** An approval with everything needed to decide it: a decision to allow must repeat its hash. */
export interface PendingApproval extends Omit<ApprovalRequestedEvent, LogFields> {
  readonly sessionId: string;
  /** Request time in ISO 8601. */
  readonly askedAt: string;
  /** Expiry time in ISO 8601; absent if it does not expire. */
  readonly expiresAt?: string;
}

/** A decision of a user. */
export interface ReceivedDecision {
  readonly decision: 'allow' | 'deny';
  readonly more?: number | undefined;
  readonly hash?: string | undefined;
  readonly message?: string | undefined;
  /** With `allow`: a rule that allows such calls from now on. */
  readonly always?: string | undefined;
}

/** A user's decision and its call. */
export interface NamedReceivedDecision extends ReceivedDecision {
  readonly approvalId: string;
}

/** A decision in the form that a run accepts. */
interface RunDecision extends ApprovalDecision {
  readonly approvalId: string;
}

interface LoggedApproval {
  readonly request: ApprovalRequestedEvent;
  readonly decision?: string;
  /** The run that accepted the decision, and the event that contains it. */
  readonly by?: Pick<Accepted, 'runId' | 'seq'>;
  /** True if its run still waits for it. */
  readonly isOpen: boolean;
}

interface DecisionSettings {
  /** The token of the request. It needs the scope `approve` in the session, and `admin` to let a budget spend more. The log names it. */
  readonly token: TokenInfo | undefined;
  /** The id of the run that continues. */
  readonly runId?: string | undefined;
  /** True if repeating an equal decision returns the run that accepted it. Default: a repeated decision is rejected. */
  readonly mayRepeat?: boolean;
}

/** Maximum clock difference between two processes, and maximum delay until written data is visible, in milliseconds. */
const slackMs = 60_000;

/** Maximum length of the name of a token in the log: less than a decision may contain. */
const maxBy = 200;

/** The waiting approvals of all sessions. The log of each session is authoritative; this is an index of them. */
export class ApprovalService {
  readonly #sessionService: SessionService;
  readonly #store: SessionStore;
  readonly #now: () => number;
  readonly #places: SessionPlaces | undefined;
  /** Sessions that other processes were running at the last search, whose requests change no time in the list. */
  #running: readonly string[] = [];
  /** Version of the store at the last search. */
  #searched: string | undefined;
  readonly #pending = new Map<string, PendingApproval>();
  /** Decisions that are being stored. These promises never reject. */
  readonly #answering = new Map<string, Promise<unknown>>();
  /** Time of the last search for waiting approvals. */
  #lastSearchAt = 0;

  constructor(
    sessionService: SessionService,
    store: SessionStore,
    places?: SessionPlaces,
    now: () => number = Date.now,
  ) {
    this.#sessionService = sessionService;
    this.#store = store;
    this.#places = places;
    this.#now = now;
  }

  /** Returns the open approvals, oldest first. */
  list(sessionId?: string): PendingApproval[] {
    return [...this.#pending.values()]
      .filter(
        (one) => (sessionId === undefined || one.sessionId === sessionId) && !this.#isLate(one.expiresAt),
      )
      .sort((one, other) => Date.parse(one.askedAt) - Date.parse(other.askedAt));
  }

  handle(sessionId: string, event: RunEvent): void {
    // Another process has deleted an earlier session with this id.
    if (isStored(event) && event.seq === 1) this.forget(sessionId);
    switch (event.type) {
      case 'approval_requested':
        this.#pending.set(event.approvalId, pendingOf(sessionId, event));
        return;
      case 'approval_decided':
        this.#pending.delete(event.approvalId);
        return;
      case 'finished':
        // A run that ended without its end being stored is still waiting in the log.
        if (event.status !== 'waiting' && isStored(event)) this.forget(sessionId);
        return;
      default:
        return ignore<'input' | 'response' | 'call' | 'note' | 'stream' | 'activity'>(event);
    }
  }

  /** Removes the waiting approvals of a session. */
  forget(sessionId: string): void {
    for (const one of this.#pending.values()) {
      if (one.sessionId === sessionId) this.#pending.delete(one.approvalId);
    }
  }

  /** Finds the approvals that were waiting before the server started. */
  async restore(): Promise<void> {
    await this.#search(0);
  }

  /** Finds approvals and decisions in runs that other processes execute, if there are any. */
  async refresh(): Promise<void> {
    const version = this.#store.version?.();
    const isShared = version !== undefined && version !== this.#searched;
    if (isShared || this.#sessionService.hasRunsElsewhere) await this.#search(this.#lastSearchAt - slackMs);
  }

  async #search(since: number): Promise<void> {
    const began = this.#now();
    const version = this.#store.version?.();
    const changed = new Map<string, SessionInfo | undefined>();
    for (const info of await sessionsSince(this.#store, since)) changed.set(info.id, info);
    for (const id of this.#running) if (!changed.has(id)) changed.set(id, await this.#store.info(id));
    const running: string[] = [];
    for (const [id, info] of changed) {
      // The events of its own runs are handled as they happen.
      if (this.#sessionService.runHere(id)) continue;
      if (info?.status === 'running') running.push(id);
      if (info?.status === 'running' || info?.status === 'waiting') await this.#load(id);
      else this.forget(id);
    }
    this.#running = running;
    this.#lastSearchAt = began;
    this.#searched = version;
  }

  async #load(sessionId: string): Promise<void> {
    const requests = openRequests(await openSession(this.#store, sessionId));
    this.forget(sessionId);
    for (const request of requests) this.#pending.set(request.approvalId, pendingOf(sessionId, request));
  }

  /** @throws Problem 404 for an unknown approval. */
  async find(
    sessionId: string,
    approvalId: string,
    token: TokenInfo | undefined,
  ): Promise<PendingApproval & { decision?: string; rules?: readonly string[] }> {
    const session = await this.#sessionService.session(sessionId, token, 'read');
    const { request, decision, isOpen } = await this.#look(sessionId, approvalId);
    const rules = isOpen ? this.#rulesFor(session, request, token) : [];
    return { ...pendingOf(sessionId, request), ...defined({ decision }), ...(rules.length > 0 && { rules }) };
  }

  /**
   * Returns the rules with which a user may allow a call from now on. Rules apply to all sessions of a directory, so they
   * need the token of the owner. A run of another process does not learn of rules that are added here.
   */
  #rulesFor(
    session: LiveSession,
    request: ApprovalRequestedEvent,
    token: TokenInfo | undefined,
  ): readonly string[] {
    const isElsewhere = session.run !== undefined && session.ownRun === undefined;
    if (isElsewhere || request.limit !== undefined || !allows(token?.scopes ?? [], 'admin')) return [];
    return this.#places?.rulesFor(session.id, request) ?? [];
  }

  /**
   * Decides an approval once. Resolves when the decision is committed and the run continues.
   * @throws AgentError `bad_decision` if `more` is not an amount that the limit can be raised by; Problem 403 if the token
   * may not raise a budget, 404 for an unknown approval, 409 for a late or repeated decision, or one that allows another
   * call.
   */
  async answer(
    sessionId: string,
    approvalId: string,
    answer: ReceivedDecision,
    settings: DecisionSettings,
  ): Promise<Accepted> {
    return await this.answerAll(sessionId, [{ ...answer, approvalId }], settings);
  }

  /** Decides several approvals together: all or none of them. Throws the same problems as `answer`. */
  async answerAll(
    sessionId: string,
    answers: readonly NamedReceivedDecision[],
    settings: DecisionSettings,
  ): Promise<Accepted> {
    await this.#sessionService.session(sessionId, settings.token, 'approve');
    const keys = answers.map(({ approvalId }) => `${sessionId} ${approvalId}`);
    const pendingDecisions = () => keys.flatMap((key) => this.#answering.get(key) ?? []);
    while (settings.mayRepeat === true && pendingDecisions().length > 0)
      await Promise.all(pendingDecisions());
    if (pendingDecisions().length > 0)
      throw alreadyDecided('Another decision on this approval is being stored.');
    const answering = this.#answerAll(sessionId, answers, settings);
    const over = answering.catch(() => undefined);
    for (const key of keys) this.#answering.set(key, over);
    try {
      return await answering;
    } finally {
      for (const key of keys) this.#answering.delete(key);
    }
  }

  async #answerAll(
    sessionId: string,
    answers: readonly NamedReceivedDecision[],
    { runId, mayRepeat = false, token }: DecisionSettings,
  ): Promise<Accepted> {
    const open: RunDecision[] = [];
    let accepted: LoggedApproval['by'];
    for (const answer of answers) {
      const found = await this.#look(sessionId, answer.approvalId);
      checkMay(found.request, answer, token);
      checkMore(found.request, answer);
      if (mayRepeat && found.by !== undefined && isSame(found, answer)) {
        if (found.by.seq > (accepted?.seq ?? 0)) accepted = found.by;
        continue;
      }
      this.#check(found, answer);
      open.push(runDecision(answer, token?.name));
    }
    if (open.length === 0 && accepted !== undefined) return { sessionId, ...accepted };
    this.#sessionService.checkOpen();
    const rules = await this.#checkRules(sessionId, answers, token);
    // Before the run continues, so that the rule already applies to its next call.
    for (const rule of rules) await this.#places?.keepRule(sessionId, rule);
    return await this.#decide(sessionId, open, { runId, token });
  }

  /** Returns the rules to keep. @throws Problem 403 for one that the server does not offer this user for this call. */
  async #checkRules(
    sessionId: string,
    answers: readonly NamedReceivedDecision[],
    token: TokenInfo | undefined,
  ): Promise<readonly string[]> {
    const rules: string[] = [];
    for (const { decision, always, approvalId } of answers) {
      if (always === undefined) continue;
      const session = await this.#sessionService.session(sessionId, token, 'approve');
      const { request } = await this.#look(sessionId, approvalId);
      if (decision !== 'allow' || !this.#rulesFor(session, request, token).includes(always))
        throw new Problem(403, 'rule', 'This rule cannot be saved for this call with this token.');
      rules.push(always);
    }
    return rules;
  }

  /** Passes the decisions to a run that waits in memory; resumes a run that ended as waiting. */
  async #decide(
    sessionId: string,
    answers: readonly RunDecision[],
    { runId, token }: DecisionSettings,
  ): Promise<Accepted> {
    const session = await this.#sessionService.session(sessionId, token, 'approve');
    const { run } = session;
    if (run !== undefined && answers.map(({ approvalId, ...answer }) => run.decide(approvalId, answer))[0]) {
      const seq = await decisionIn(run, answers);
      if (seq !== undefined) return { sessionId, runId: run.id, seq };
      throw new Problem(503, 'store', 'The decision could not be stored: the run ended first.');
    }
    return await session.resume({ answers, ...defined({ runId }) }, token);
  }

  /** Finds an approval: an open one in the state of the session, others in its log. */
  async #look(sessionId: string, approvalId: string): Promise<LoggedApproval> {
    const open = openRequests(await openSession(this.#store, sessionId));
    const waiting = open.find((request) => request.approvalId === approvalId);
    if (waiting !== undefined) return { request: waiting, isOpen: true };
    let request: ApprovalRequestedEvent | undefined;
    const read = (after: number, limit: number) => this.#store.read(sessionId, after, limit);
    for await (const page of logPages(read)) {
      request ??= page.find((event) => isAbout(event, 'approval_requested', approvalId));
      const answered = page.find((event) => isAbout(event, 'approval_decided', approvalId));
      if (request !== undefined && answered !== undefined)
        return {
          request,
          decision: answered.decision,
          by: { runId: answered.runId, seq: answered.seq },
          isOpen: false,
        };
    }
    if (request === undefined)
      throw new Problem(404, 'no_approval', 'There is no approval request with this id.');
    return { request, isOpen: false };
  }

  #check({ request, decision: before, isOpen }: LoggedApproval, { decision, hash }: ReceivedDecision): void {
    const { expiresAt } = request;
    if (before !== undefined) throw alreadyDecided(`Already decided: ${before}.`);
    if (!isOpen) throw alreadyDecided('The run ended before the decision was made.');
    if (expiresAt !== undefined && expiresAt <= this.#now()) {
      throw new Problem(409, 'expired', 'The deadline for this decision has passed.');
    }
    if (hash === undefined && decision === 'deny') return;
    if (hash !== request.hash) {
      const detail = 'To allow the call, send the hash of the approval; the hash received does not match.';
      throw new Problem(409, 'other_arguments', detail, { extra: { hash: request.hash } });
    }
  }

  #isLate(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#now();
  }
}

function runDecision(
  { approvalId, decision, message, more }: NamedReceivedDecision,
  by: string | undefined,
): RunDecision {
  return { approvalId, decision, ...defined({ message, more, by: by?.slice(0, maxBy) }) };
}

/** Checks that the user may let a budget spend more: it limits others too. A limit of the run is its users' own. */
function checkMay(
  { limit }: ApprovalRequestedEvent,
  { decision }: ReceivedDecision,
  token: DecisionSettings['token'],
): void {
  if (decision === 'deny' || limit?.budget === undefined || allows(token?.scopes ?? [], 'admin')) return;
  const detail = `Only a token with the "admin" scope can raise the limit of budget ${JSON.stringify(limit.budget)}. Any token with the "approve" scope can stop the run.`;
  throw new Problem(403, 'scope', detail);
}

/** True if a decision equals the stored one, for exactly the same call. */
function isSame({ request, decision }: LoggedApproval, answer: ReceivedDecision): boolean {
  return decision === answer.decision && (decision === 'deny' || answer.hash === request.hash);
}

/** Returns the event that contains the first of these decisions, once it is committed. */
async function decisionIn(run: Run, answers: readonly RunDecision[]): Promise<number | undefined> {
  for await (const event of run) {
    if (event.type !== 'approval_decided') continue;
    if (answers.some(({ approvalId }) => approvalId === event.approvalId)) return event.seq;
  }
  return undefined;
}

function alreadyDecided(detail: string): Problem {
  return new Problem(409, 'decided', detail);
}

function isAbout<Type extends 'approval_requested' | 'approval_decided'>(
  event: Event,
  type: Type,
  approvalId: string,
): event is Extract<Event, { type: Type }> {
  return event.type === type && 'approvalId' in event && event.approvalId === approvalId;
}

function pendingOf(sessionId: string, request: ApprovalRequestedEvent & { time?: string }): PendingApproval {
  const { approvalId, toolName, hash, expiresAt, subject, summary, diff, limit } = request;
  const { mustAsk, after, isRepeated } = request;
  return {
    approvalId,
    sessionId,
    toolName,
    arguments: request.arguments,
    hash,
    askedAt: request.time ?? '',
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...defined({ subject, summary, diff, limit, mustAsk, after, isRepeated }),
  };
}
