import type { EventBody } from '../events/event.ts';
import { foldUnstored } from '../events/fold.ts';
import { checkMore } from '../events/limit-question.ts';
import type { State } from '../events/state.ts';
import { emptyState, openRequests, unanswered } from '../events/state.ts';
import type { NamedDecision } from '../run/approvals.ts';
import { readDecisions } from '../run/approvals.ts';
import type { AdvanceOptions, RunConfig } from '../run/options.ts';
import type { Prompt } from '../run/prompt.ts';
import { readPrompt } from '../run/prompt.ts';
import { openSession, readEvents } from '../store/open-session.ts';
import { AgentError } from '../values/errors.ts';
import type { Message, UserPart } from '../values/message.ts';
import { wellFormedParts } from '../values/unicode.ts';
import type { Claim } from './log.ts';

type Opening = RunConfig<unknown>['open'];

/**
 * Starts with a prompt. If the session already has a conversation, only the last message of a given one is used.
 * @throws AgentError `invalid`, code `empty_prompt` or `bad_prompt`, immediately.
 */
export function openPrompt(prompt: Prompt): Opening {
  const first = promptEvents(readPrompt(prompt));
  return (state) => [...closeSuperseded(state), ...(state.seq === 0 ? first : withoutHistory(first))];
}

/**
 * Continues a session after a crash or a wait.
 * @param compacts True to shorten the conversation, which needs all calls of the last turn to have a result.
 * @throws AgentError `invalid`, code `bad_decision`, immediately; if `more` does not fit its question, or with code
 * `open_calls`, when it opens.
 */
export function openAgain(
  sessionId: string,
  given: readonly NamedDecision[] = [],
  now: () => number,
  compacts: boolean = false,
): Opening {
  const answers = readDecisions(given);
  return (state) => {
    if (state.seq === 0) throw noSession(sessionId);
    if (compacts && unanswered(state).length > 0) throw openCalls();
    const asked = openRequests(state);
    for (const answer of answers)
      checkMore(
        asked.find(({ approvalId }) => approvalId === answer.approvalId),
        answer,
      );
    return [{ type: 'resumed' }, ...closeExpired(state, now()), ...answers.map(decision)];
  };
}

/** Starts or continues a run that executes one action at a time; the log determines which. */
export function openAction(
  { prompt, sessionId, runId, answers }: Pick<AdvanceOptions, 'prompt' | 'sessionId' | 'runId' | 'answers'>,
  now: () => number,
): Opening {
  const begin = prompt === undefined ? undefined : openPrompt(prompt);
  const resume = openAgain(sessionId, answers, now);
  return (state) => {
    const hasStarted = state.seq > 0 && state.runId === runId;
    if (!hasStarted) return (begin ?? resume)(state);
    if (state.finished === undefined) return isInterrupted(state) ? [{ type: 'resumed' }] : [];
    if (state.finished.status !== 'waiting') return [];
    // An action that is performed again brings decisions that the log already has.
    const open = new Set(openRequests(state).map(({ approvalId }) => approvalId));
    const again = resume(state).filter(
      (event) => event.type !== 'approval_decided' || open.has(event.approvalId),
    );
    // Only a decision, or an approval that has expired, continues a waiting run.
    return again.length > 1 ? again : [];
  };
}

function promptEvents(messages: readonly Message[]): EventBody[] {
  const last = messages.at(-1);
  const user = last?.role === 'user' ? [userEvent(last.content)] : [];
  // Store the messages as the fold returns them, so that the session can be imported again.
  const state = emptyState();
  foldUnstored(state, {
    runId: '',
    type: 'history',
    messages: messages.slice(0, messages.length - user.length),
  });
  if (state.messages.length > 0) return [{ type: 'history', messages: state.messages }, ...user];
  return user.length > 0 ? user : [userEvent([])];
}

function userEvent(content: readonly UserPart[]): EventBody {
  const whole = wellFormedParts(content);
  if (whole.every((part) => part.type === 'text' && part.text.trim() === ''))
    throw new AgentError({ kind: 'invalid', code: 'empty_prompt', message: 'The prompt is empty.' });
  return { type: 'user', content: whole };
}

/** Closes pending approvals, because a new prompt supersedes them. */
function closeSuperseded(state: State): EventBody[] {
  return openRequests(state).map(({ approvalId }) => decidedBy('superseded', approvalId));
}

function closeExpired(state: State, now: number): EventBody[] {
  const over = openRequests(state).filter(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now);
  return over.map(({ approvalId }) => decidedBy('expired', approvalId));
}

/** Returns whether a tool started whose process is gone. While this process holds the session, no other does. */
function isInterrupted(state: State): boolean {
  return unanswered(state).some((call) => call.started && !call.orphaned && call.waitUntil === undefined);
}

function decision({ approvalId, ...given }: NamedDecision): EventBody {
  return { type: 'approval_decided', approvalId, ...given, waitedMs: 0 };
}

function decidedBy(decision: 'superseded' | 'expired', approvalId: string): EventBody {
  return { type: 'approval_decided', approvalId, decision, waitedMs: 0 };
}

/** Removes an imported conversation, because the session already has one. Without a new message, the session is resumed. */
function withoutHistory(first: readonly EventBody[]): EventBody[] {
  const rest = first.filter((event) => event.type !== 'history');
  return rest.length > 0 ? rest : [{ type: 'resumed' }];
}

function openCalls(): AgentError {
  const message =
    'The conversation cannot be shortened while tool calls wait. Decide on them, or send a message.';
  return new AgentError({ kind: 'invalid', code: 'open_calls', message });
}

function noSession(sessionId: string): AgentError {
  const message = `There is no session ${JSON.stringify(sessionId)} in the store.`;
  return new AgentError({ kind: 'invalid', code: 'no_session', message });
}

/** Claims the session of a run and folds its events. */
export async function claimSession({
  store,
  sessionId,
  session,
}: Pick<RunConfig, 'store' | 'sessionId' | 'session'>): Promise<Claim> {
  if (session === 'new') return { epoch: await store.claim(sessionId), state: emptyState() };
  // Claiming a session creates it, so a session that is only to be continued must already exist.
  if (session === 'old' && (await readEvents(store, sessionId, 0, 1)).length === 0)
    return { epoch: 0, state: emptyState() };
  const epoch = await store.claim(sessionId);
  return { epoch, state: await openSession(store, sessionId) };
}
