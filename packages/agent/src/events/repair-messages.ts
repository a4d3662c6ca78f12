import type { Message, ToolCallPart, ToolResultMessage } from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import { wellFormedAnswer, wellFormedParts } from '../values/unicode.ts';
import { fold } from './fold.ts';
import { emptyState } from './state.ts';

/** Something for which a provider would refuse a conversation. */
export interface MessageIssue {
  /** Index of the message. */
  readonly at: number;
  /** What is wrong with it, in words that follow "the message". */
  readonly what: string;
}

/** A conversation that any provider takes, and what had to be mended. */
export interface RepairedMessages {
  readonly messages: readonly Message[];
  /** Empty when the conversation was fine; then only the order of results may have changed. */
  readonly problems: readonly MessageIssue[];
}

/** A call and the result that was found for it. */
interface Answered {
  readonly at: number;
  readonly part: ToolCallPart;
  result?: ToolResultMessage;
}

/**
 * Mends a conversation from elsewhere by the rules of the fold: each call gets its one result, right behind
 * its answer. A result that stands too late is moved to its call, one without a call is left out.
 */
export function repairMessages(messages: readonly Message[]): RepairedMessages {
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
}

function contentProblems(message: Message, at: number): MessageIssue[] {
  const whole =
    message.role === 'assistant' ? wellFormedAnswer(message.content) : wellFormedParts(message.content);
  if (whole.length === 0) return [{ at, what: 'is empty' }];
  if (whole === message.content) return [];
  if (whole.length < message.content.length) return [{ at, what: 'has a text without a character in it' }];
  const broken = whole.some((part) => part.type === 'tool_call' && part.problem !== undefined);
  return [
    { at, what: broken ? 'has a call whose arguments cannot be used' : 'holds half of a surrogate pair' },
  ];
}

/** Finds the result of each call, and notes whatever has no partner or stands where no provider looks for it. */
function pair(messages: readonly Message[], problems: MessageIssue[]): Answered[] {
  const calls: Answered[] = [];
  // The answer whose results may come now: between it and them stand nothing but other results.
  let latest = -1;
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') {
      calls.push(...callsOf(message).map((part) => ({ at, part })));
      latest = at;
    } else if (message.role === 'user') latest = -1;
    else {
      const call = callFor(calls, message, latest);
      if (call === undefined) {
        problems.push({ at, what: `is a result for the call ${shown(message)}, which waits for none` });
        continue;
      }
      call.result = message;
      if (call.at !== latest)
        problems.push({ at, what: `is the result of the call ${shown(message)}, but stands apart from it` });
    }
  }
  for (const { at, part, result } of calls) {
    if (result === undefined)
      problems.push({
        at,
        what: `has a call of ${part.toolName} (${JSON.stringify(part.id)}) without a result`,
      });
  }
  return calls;
}

/** Ids may repeat: the answer right before counts first, then the one that is nearest. */
function callFor(
  calls: readonly Answered[],
  result: ToolResultMessage,
  latest: number,
): Answered | undefined {
  const open = calls.filter((call) => call.result === undefined && call.part.id === result.toolCallId);
  return open.find((call) => call.at === latest) ?? open.at(-1);
}

function shown(result: ToolResultMessage): string {
  return JSON.stringify(result.toolCallId);
}
