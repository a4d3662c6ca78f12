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
import type { OpenCall, State } from './state.ts';
import { unanswered } from './state.ts';

/** An event as it fits a session, or nothing when it does not, and what is wrong with it as it is. */
export interface Fitting {
  readonly event?: Event;
  /** In words that follow "the event". */
  readonly problem?: string;
}

type Head = Pick<Event, 'v' | 'seq' | 'id' | 'time' | 'runId'>;

/** What no run would have written at this place of a session, and how it fits all the same. */
export function fitting(state: State, event: Event): Fitting {
  if (state.finished !== undefined && event.runId === state.runId)
    return { problem: 'comes after the end of its run' };
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
    case 'approval_requested':
      return fitCall(state, event);
    case 'tool_result':
      return fitResult(state, event);
    case 'compacted':
      return fitCompacted(state, event);
    case 'notice':
      return fitNotice(state, event);
    case 'approval_decided':
    case 'stop_requested':
    case 'resumed':
    case 'finished':
      return { event };
    default:
      // A later version may store events that this one does not know: they stay.
      return ignore<never>(event) ?? { event };
  }
}

const badText = 'has a text that no provider takes: without a character, or with half of a surrogate pair';

function fitHistory(state: State, event: Head & HistoryEvent): Fitting {
  if (state.seq !== 0) return { problem: 'brings a conversation from elsewhere, but is not the first one' };
  const { messages, problems } = repairMessages(event.messages);
  const [first] = problems;
  if (first === undefined) return { event };
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return {
    event: { ...event, messages },
    problem: `brings a conversation whose message ${first.at} ${first.what}${more}`,
  };
}

function fitUser(event: Head & UserEvent): Fitting {
  const content = wellFormedParts(event.content);
  if (content.length === 0) return { problem: 'says nothing' };
  return content === event.content ? { event } : { event: { ...event, content }, problem: badText };
}

function fitResult(state: State, event: Head & ToolResultEvent): Fitting {
  const fits = fitCall(state, event);
  if (fits.event?.type !== 'tool_result') return fits;
  const content = wellFormedParts(fits.event.content);
  if (content === fits.event.content) return fits;
  return { event: { ...fits.event, content }, problem: fits.problem ?? badText };
}

/** Where answers were lost, calls have other turns than they had; their ids still tell them. */
function fitCall(state: State, event: Extract<Event, { readonly callId: string }>): Fitting {
  const open = unanswered(state).filter((call) => isMeant(call, event));
  if (open.some(({ turn }) => turn === event.turn)) return { event };
  const [call] = open;
  const place = `turn ${event.turn}, call ${event.index}`;
  if (call === undefined) return { problem: `is about a call that waits for nothing (${place})` };
  return {
    event: { ...event, turn: call.turn },
    problem: `is about a call of turn ${call.turn}, but names ${place}`,
  };
}

function isMeant({ index, part }: OpenCall, event: Extract<Event, { readonly callId: string }>): boolean {
  return index === event.index && part.id === event.callId;
}

function fitNotice(state: State, event: Head & NoticeEvent): Fitting {
  if (state.calls.length > 0) return { problem: 'informs the model in the middle of a turn' };
  const text = wellFormedText(event.text);
  if (text === '') return { problem: 'says nothing' };
  return text === event.text ? { event } : { event: { ...event, text }, problem: badText };
}

function fitCompacted(state: State, event: Head & CompactedEvent): Fitting {
  if (state.calls.length > 0) return { problem: 'sums up a conversation in the midst of a turn' };
  const upTo = safeCut(state.messages, event.upTo);
  const summary = wellFormedText(event.summary);
  if (upTo === event.upTo && summary === event.summary) return { event };
  const problem = upTo === event.upTo ? badText : `sums up ${event.upTo} messages where ${upTo} can be`;
  return { event: { ...event, upTo, summary }, problem };
}
