import { withArgumentErrors } from '../values/errors.ts';
import type { Message, ToolCallPart, ToolResultMessage } from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import { wellFormedAnswer, wellFormedParts } from '../values/unicode.ts';
import { fold } from './fold.ts';
import { emptyState } from './state.ts';

/** A problem for which a provider would reject a conversation. */
export interface MessageIssue {
  /** Index of the message. */
  readonly at: number;
  /** The problem, as text to append to "the message". */
  readonly what: string;
}

/** A conversation that every provider accepts, and the problems that were repaired. */
export interface RepairedMessages {
  readonly messages: readonly Message[];
  /** Empty if the conversation was valid; then at most the order of results has changed. */
  readonly problems: readonly MessageIssue[];
}

interface RepairedCall {
  readonly at: number;
  readonly part: ToolCallPart;
  result?: ToolResultMessage;
}

/**
 * Repairs a conversation from an external source by the rules of the fold: each call has exactly one result, directly
 * after its response. A result that comes too late is moved to its call; a result without a call is removed.
 */
export function repairMessages(messages: readonly Message[]): RepairedMessages {
  return withArgumentErrors('repairMessages', () => {
    const problems: MessageIssue[] = messages.flatMap((message, at) => contentProblems(message, at));
    const calls = pair(messages, problems);
    const arranged = messages.flatMap((message, at): readonly Message[] => {
      if (message.role === 'tool_result') return [];
      const results = calls.filter((call) => call.at === at).flatMap(({ result }) => result ?? []);
      return [message, ...results];
    });
    const state = emptyState();
    fold(state, {
      v: 1,
      seq: 1,
      id: 'mended-1',
      time: '',
      runId: 'mended',
      type: 'history',
      messages: arranged,
    });
    return { messages: state.messages, problems: problems.sort((one, other) => one.at - other.at) };
  });
}

function contentProblems(message: Message, at: number): MessageIssue[] {
  const whole =
    message.role === 'assistant' ? wellFormedAnswer(message.content) : wellFormedParts(message.content);
  if (whole.length === 0) return [{ at, what: 'is empty' }];
  if (whole === message.content) return [];
  if (whole.length < message.content.length) return [{ at, what: 'contains empty text' }];
  const broken = whole.some((part) => part.type === 'tool_call' && part.problem !== undefined);
  return [{ at, what: broken ? 'contains a call with unusable arguments' : 'contains a lone surrogate' }];
}

/** Finds the result of each call, and reports calls and results without a partner or in the wrong position. */
function pair(messages: readonly Message[], problems: MessageIssue[]): RepairedCall[] {
  const calls: RepairedCall[] = [];
  // The response whose results are expected now: only other results come between it and them.
  let latest = -1;
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') {
      calls.push(...callsOf(message).map((part) => ({ at, part })));
      latest = at;
    } else if (message.role === 'user') latest = -1;
    else {
      const call = callFor(calls, message, latest);
      if (call === undefined) {
        problems.push({ at, what: `is a result of the call ${quotedCallId(message)}, which is not open` });
        continue;
      }
      call.result = message;
      if (call.at !== latest)
        problems.push({
          at,
          what: `is the result of the call ${quotedCallId(message)}, but is not directly after it`,
        });
    }
  }
  for (const { at, part, result } of calls) {
    if (result === undefined)
      problems.push({
        at,
        what: `contains a call to ${part.toolName} (${JSON.stringify(part.id)}) without a result`,
      });
  }
  return calls;
}

/** Finds the call of a result. Ids can repeat: the previous response is preferred, then the nearest earlier one. */
function callFor(
  calls: readonly RepairedCall[],
  result: ToolResultMessage,
  latest: number,
): RepairedCall | undefined {
  const open = calls.filter((call) => call.result === undefined && call.part.id === result.toolCallId);
  return open.find((call) => call.at === latest) ?? open.at(-1);
}

function quotedCallId(result: ToolResultMessage): string {
  return JSON.stringify(result.toolCallId);
}
