import type { ToolResultEvent } from '../events/event.ts';
import type { OpenCall } from '../events/state.ts';
import type { Tool } from '../interfaces/tool.ts';
import { AgentError } from '../values/errors.ts';
import { asText } from '../values/invalid-value.ts';
import { maxNoteBytes, maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { ToolJob } from './tool-run.ts';

/** A call with its tool and valid arguments, which runs or waits for a user's decision. Gates can change it. */
export interface Job extends ToolJob {
  type: 'run' | 'ask';
  readonly call: OpenCall;
  /** The arguments as plain data from the model or the gate: these are judged, shown, approved and recorded. */
  given: Record<string, unknown>;
  /** The same arguments, converted by the tool's own validation: these are passed to the tool. */
  valid: Record<string, unknown>;
  /** The reason why a user had to decide when the call was decided. */
  mustAsk: string | undefined;
  /** The time until which the call waits before its tool runs. */
  readonly waitUntil: number | undefined;
}

/** A call that is not run: its result is recorded instead. */
export interface Refusal {
  readonly type: 'answer';
  readonly call: OpenCall;
  readonly event: ToolResultEvent;
}

/** The plan for one call: record a result without running it, ask a user, or run it. */
export type Plan = Refusal | Job;

/** The tools of each list by name: the runs of an executor share it. */
const knownTools = new WeakMap<readonly Tool[], ReadonlyMap<string, Tool>>();

/** Returns the tools by name. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  let known = knownTools.get(tools);
  if (known === undefined) {
    known = new Map(tools.map((tool) => [tool.name, tool]));
    knownTools.set(tools, known);
  }
  return known;
}

/** Returns the one argument that matters, for users and rules; empty if the tool names none or throws. */
export function subjectOf(tool: Tool, args: Record<string, unknown>): string {
  try {
    return wellFormedText(asText(tool.subject?.(args) ?? ''));
  } catch {
    return '';
  }
}

/** Returns the reason why a user must decide about a call. A tool that throws requires a decision. */
export function mustAskOf(tool: Tool, args: Record<string, unknown>): string | undefined {
  try {
    const why = tool.mustAsk?.(args);
    return why === undefined ? undefined : cap(wellFormedText(asText(why)), maxNoteBytes);
  } catch (thrown) {
    return cap(AgentError.from(thrown, 'tool').message, maxNoteBytes);
  }
}

/** Returns the plan for a call that is not run: a result with this message. */
export function refusal(
  call: OpenCall,
  message: string,
  how: { denied?: boolean; started?: boolean } = {},
): Refusal {
  const event: ToolResultEvent = {
    type: 'tool_result',
    turn: call.turn,
    index: call.index,
    callId: call.part.id,
    toolName: call.part.toolName,
    content: [{ type: 'text', text: cap(wellFormedText(message) || '(no reason given)', maxOutputBytes) }],
    isError: true,
    durationMs: 0,
    ...(how.started !== true && { notRun: true }),
    ...(how.denied === true && { denied: true }),
  };
  return { type: 'answer', call, event };
}
