import type { FilePart, Tool, ToolCallPart } from '@cobbler/agent';
import type { AssistantEvent, CallPosition, ToolResultEvent } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';
import { agentToolName } from '../permissions/permission.ts';
import type { DiffSize } from './diff-lines.ts';
import { diffSize } from './diff-lines.ts';
import type { ToolReport } from './tool-report.ts';

/** Maximum number of steps of a call that are kept, and of calls with steps. */
const maxSteps = 500;
const maxCallsWithSteps = 50;

/**
 * Collects the data about a call from several events until it ends and can be reported: the response contains its
 * arguments, the tool returns its subject, and a question may already have shown its diff.
 */
export class ToolCallList {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #diffsShown = new Set<string>();
  readonly #changes = new Map<string, DiffSize>();
  readonly #running = new Map<string, string>();
  readonly #steps: Map<string, string[]>;
  #calls: readonly ToolCallPart[] = [];

  /** @param steps receives what calls report of their progress, by the id of the call, also for other lists. */
  constructor(tools: readonly Tool[], steps: Map<string, string[]> = new Map()) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#steps = steps;
  }

  /** Lines added and removed by path, for all changes of the run. */
  get changes(): ReadonlyMap<string, DiffSize> {
    return this.#changes;
  }

  /** Active calls in the order in which they started: name and subject of each. */
  get running(): readonly string[] {
    return [...this.#running.values()];
  }

  /** Processes a new response, whose calls follow. */
  addResponse(event: Pick<AssistantEvent, 'content'>): void {
    this.#calls = event.content.filter((part) => part.type === 'tool_call');
  }

  start(
    event: CallPosition & { readonly toolName: string; readonly arguments: Record<string, unknown> },
  ): void {
    const subject = this.subjectOf(event.toolName, event.arguments);
    this.#running.set(keyOf(event), `${event.toolName} ${subject}`.trim());
  }

  /** Processes the progress of a call. */
  progress({ callId, text }: { readonly callId: string; readonly text: string }): void {
    const steps = this.#steps.get(callId) ?? [];
    this.#steps.set(callId, [...steps, ...text.split('\n')].slice(-maxSteps));
    const [oldest] = this.#steps.keys();
    if (oldest !== undefined && this.#steps.size > maxCallsWithSteps) this.#steps.delete(oldest);
  }

  diffShown(place: CallPosition): void {
    this.#diffsShown.add(keyOf(place));
  }

  finish(event: ToolResultEvent): ToolReport {
    this.#running.delete(keyOf(event));
    const args = this.#calls[event.index]?.arguments ?? {};
    const subject = this.subjectOf(event.toolName, args);
    if (event.diff !== undefined && !event.isError) this.#note(subject, diffSize(event.diff));
    const showDiff = event.diff !== undefined && !this.#diffsShown.has(keyOf(event));
    return {
      toolName: event.toolName,
      subject,
      outcome: outcomeOf(event),
      durationMs: event.durationMs,
      text: event.content.map((part) => (part.type === 'text' ? part.text : fileLabel(part))).join('\n'),
      arguments: args,
      printed:
        this.#tools.get(event.toolName)?.effect !== 'read' &&
        event.diff === undefined &&
        event.toolName !== agentToolName,
      ...defined({ summary: event.summary, steps: this.#steps.get(event.callId) }),
      ...(showDiff && { diff: event.diff }),
    };
  }

  /** Returns the subject of a call; none if the tool fails on unexpected arguments, which its result explains. */
  subjectOf(toolName: string, args: Record<string, unknown>): string {
    try {
      return this.#tools.get(toolName)?.subject?.(args) ?? '';
    } catch {
      return '';
    }
  }

  #note(path: string, size: DiffSize): void {
    const before = this.#changes.get(path) ?? { added: 0, removed: 0 };
    this.#changes.set(path, { added: before.added + size.added, removed: before.removed + size.removed });
  }
}

function keyOf({ turn, index }: CallPosition): string {
  return `${turn}.${index}`;
}

function outcomeOf(event: ToolResultEvent): ToolReport['outcome'] {
  if (event.denied) return 'denied';
  if (!event.isError) return 'ok';
  return event.notRun ? 'not_run' : 'failed';
}

/** Returns a label of one word for a file. */
export function fileLabel({ name, mediaType }: FilePart): string {
  return `[${name ?? mediaType}]`;
}
