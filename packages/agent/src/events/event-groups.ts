/**
 * The event types by topic. A new type must be added to a group. Readers that ignore the whole group then need no
 * change, and the compiler reports those that handle its members one by one.
 */
interface EventGroups {
  /** Adds user messages to the conversation. */
  input: 'user' | 'history';
  /** A request to the model has ended. */
  response: 'assistant' | 'ask_failed';
  /** The state of a tool call has changed. */
  call: 'tool_started' | 'step' | 'tool_result' | 'approval_requested' | 'approval_decided';
  /** Something else has happened. */
  note: 'compacted' | 'spent' | 'stop_requested' | 'notice' | 'resumed';
  /** A run has ended. */
  end: 'finished';
  /** Live: the response as it streams. */
  stream: 'text_delta' | 'reasoning_delta' | 'tool_input_delta' | 'text' | 'reasoning' | 'tool_call';
  /** Live: the activity of the run. */
  activity: 'started' | 'status' | 'progress' | 'retry' | 'cache_break';
}

/** A group of event types. */
export type EventGroup = keyof EventGroups;

/**
 * Closes a `switch` over events: `default: return ignore<'note'>(event)` names the groups that have no case, and
 * `ignore<never>(event)` says that there are none. An event type that is in neither a case nor these groups is a compile
 * error. Unlike `assertNever` it does not throw, because a log can contain types of a later version.
 */
export function ignore<Group extends EventGroup>(_event: { readonly type: EventGroups[Group] }): undefined {
  return undefined;
}
