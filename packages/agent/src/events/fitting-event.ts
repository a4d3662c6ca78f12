import { wellFormedAnswer, wellFormedParts, wellFormedText } from '../values/unicode.ts';
import type {
  CompactedEvent,
  Event,
  HistoryEvent,
  NoticeEvent,
  ToolResultEvent,
  UserEvent,
} from './event.ts';
import { ignore } from './event-groups.ts';
import { safeCut } from './fold.ts';
import { repairMessages } from './repair-messages.ts';
import type { State } from './state.ts';
import { unanswered } from './state.ts';

/** The result of checking an event: the event to keep, if any, and the problem with the original one. */
export interface Fitting {
  readonly event?: Event;
  /** Text to append to "the event". */
  readonly problem?: string;
}

type Head = Pick<Event, 'v' | 'seq' | 'id' | 'time' | 'runId'>;

/** Checks whether a run could have written an event at this position, and returns the event as it fits. */
export function fitting(state: State, event: Event): Fitting {
  const { finished } = state;
  // A run that waits for a user continues with the decision, and a fork of it ends it.
  const isOver = finished !== undefined && finished.status !== 'waiting';
  if (isOver && event.runId === state.runId) return { problem: 'comes after the end of its run' };
  switch (event.type) {
    case 'history':
      return fitHistory(state, event);
    case 'user':
      return fitUser(event);
    case 'assistant': {
      const content = wellFormedAnswer(event.content);
      return content === event.content ? { event } : { event: { ...event, content }, problem: badText };
    }
    case 'ask_failed': {
      const { partial = [] } = event;
      const whole = wellFormedAnswer(partial);
      return whole === partial ? { event } : { event: { ...event, partial: whole }, problem: badText };
    }
    case 'tool_started':
      return fitCall(state, event);
    case 'approval_requested':
      return event.limit === undefined ? fitCall(state, event) : { event };
    case 'tool_result':
      return fitResult(state, event);
    case 'compacted':
      return fitCompacted(state, event);
    case 'notice':
      return fitNotice(state, event);
    case 'approval_decided':
    case 'spent':
    case 'step':
    case 'stop_requested':
    case 'resumed':
    case 'finished':
      return { event };
    default:
      // Types that this version does not know are kept, because a later version may store them.
      return ignore<never>(event) ?? { event };
  }
}

const badText = 'contains text that no provider accepts: an empty string or a lone surrogate';

function fitHistory(state: State, event: Head & HistoryEvent): Fitting {
  if (state.seq !== 0) return { problem: 'imports a conversation, but is not the first event' };
  const { messages, problems } = repairMessages(event.messages);
  const [first] = problems;
  if (first === undefined) return { event };
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return {
    event: { ...event, messages },
    problem: `imports a conversation whose message ${first.at} ${first.what}${more}`,
  };
}

function fitUser(event: Head & UserEvent): Fitting {
  const content = wellFormedParts(event.content);
  if (content.length === 0) return { problem: 'is empty' };
  return content === event.content ? { event } : { event: { ...event, content }, problem: badText };
}

function fitResult(state: State, event: Head & ToolResultEvent): Fitting {
  const fits = fitCall(state, event);
  if (fits.event?.type !== 'tool_result') return fits;
  const content = wellFormedParts(fits.event.content);
  if (content === fits.event.content) return fits;
  return { event: { ...fits.event, content }, problem: fits.problem ?? badText };
}

/** Checks an event of a call. If responses are missing, calls have different turn numbers; their ids still identify them. */
function fitCall(state: State, event: Extract<Event, { readonly callId: string }>): Fitting {
  const open = unanswered(state).filter(
    ({ index, part }) => index === event.index && part.id === event.callId,
  );
  if (open.some(({ turn }) => turn === event.turn)) return { event };
  const [call] = open;
  const place = `turn ${event.turn}, call ${event.index}`;
  if (call === undefined) return { problem: `refers to a call that is not open (${place})` };
  return {
    event: { ...event, turn: call.turn },
    problem: `belongs to a call in turn ${call.turn}, but refers to ${place}`,
  };
}

function fitNotice(state: State, event: Head & NoticeEvent): Fitting {
  if (state.calls.length > 0) return { problem: 'is a notice in the middle of a turn' };
  const text = wellFormedText(event.text);
  if (text === '') return { problem: 'is empty' };
  return text === event.text ? { event } : { event: { ...event, text }, problem: badText };
}

function fitCompacted(state: State, event: Head & CompactedEvent): Fitting {
  if (state.calls.length > 0) return { problem: 'summarizes a conversation in the middle of a turn' };
  const upTo = safeCut(state.messages, event.upTo);
  const summary = wellFormedText(event.summary);
  if (upTo === event.upTo && summary === event.summary) return { event };
  const problem =
    upTo === event.upTo
      ? badText
      : `summarizes the messages up to ${event.upTo}, but only those up to ${upTo} can be summarized`;
  return { event: { ...event, upTo, summary }, problem };
}
