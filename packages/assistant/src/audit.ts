import type { Event, Pricing, Tool } from '@cobbler/agent';
import { costOf } from '@cobbler/agent';
import { defined, isoTime } from '@cobbler/agent/values';
import type { EventStore } from './storage/event-store.ts';

interface AuditEntryBase {
  /** ISO 8601 in UTC. */
  readonly time: string;
  readonly chatId: string;
  readonly runId: string;
}

/** A request to the model for an answer. */
export interface AuditedModelCall extends AuditEntryBase {
  readonly kind: 'model';
  /** Why the model stopped, or `failed`. */
  readonly status: string;
  /** Absent when the request failed. */
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** In US dollars; absent when the price is unknown. */
  readonly usd?: number;
  readonly durationMs: number;
  /** The kind of the error of a request that failed. */
  readonly error?: string;
}

/** A call of a tool that the model asked for. */
export interface AuditedCall extends AuditEntryBase {
  readonly kind: 'tool';
  readonly tool: string;
  /** Absent for a tool that is no longer known. */
  readonly effect?: NonNullable<Tool['effect']>;
  /** `unknown` if the process died before the result was recorded. */
  readonly status: 'done' | 'failed' | 'denied' | 'expired' | 'not_run' | 'unknown';
  /** The chat of the user who decided; absent if no user was asked. */
  readonly decidedBy?: string;
  readonly decision?: 'allow' | 'deny' | 'expired' | 'superseded';
  readonly durationMs?: number;
}

/** One thing that was done for a chat: a request to the model, or a call of a tool. */
export type AuditEntry = AuditedModelCall | AuditedCall;

/** The part of the logs to read, and the prices to use. */
export interface AuditOptions {
  readonly chatId?: string;
  /** Nothing before it, in milliseconds since 1970. */
  readonly since?: number;
  /** Default: what the logs say, which is nothing where the turn knew no prices. */
  readonly pricing?: Pricing;
  /** Tells the effects of tools by their names. */
  readonly tools?: readonly Pick<Tool, 'name' | 'effect'>[];
}

/**
 * Model requests and tool calls from the logs of turns, in the order of the turns. It does not contain deleted or
 * pruned turns, nor any message text.
 */
export async function* auditOf(
  turns: Pick<EventStore, 'sessions' | 'read'>,
  options: AuditOptions = {},
): AsyncGenerator<AuditEntry> {
  const { chatId, since } = options;
  const first = since === undefined ? '' : isoTime(since);
  for (const sessionId of await turns.sessions()) {
    const turn = turnIn(sessionId);
    if (turn === undefined || (chatId !== undefined && turn.chatId !== chatId)) continue;
    for (const entry of entriesOf(await turns.read(sessionId), turn, options))
      if (entry.time >= first) yield entry;
  }
}

type TurnName = Pick<AuditEntryBase, 'chatId' | 'runId'>;

/** The opposite of `turnSession`. */
function turnIn(sessionId: string): TurnName | undefined {
  const match = /^chat:([^:]+):(.+)$/.exec(sessionId);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { chatId: match[1], runId: match[2] };
}

function entriesOf(events: readonly Event[], turn: TurnName, options: AuditOptions): AuditEntry[] {
  const decisions = decisionsIn(events, turn);
  const entries: AuditEntry[] = [];
  for (const event of events) {
    const head = { time: event.time, ...turn };
    if (event.type === 'assistant') entries.push(modelCall(event, head, options));
    if (event.type === 'ask_failed') {
      const { error, durationMs, usd } = event;
      const cost = usd === undefined ? {} : { usd };
      entries.push({ kind: 'model', ...head, status: 'failed', durationMs, error: error.kind, ...cost });
    }
    if (event.type === 'tool_result') entries.push(toolCall(event, head, { decisions, options }));
  }
  return [...entries, ...unfinished(events, turn, { decisions, options })];
}

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

function modelCall(
  event: EventOf<'assistant'>,
  head: AuditEntryBase,
  { pricing }: AuditOptions,
): AuditedModelCall {
  const { provider, model, usage, stopReason, durationMs } = event;
  const price = pricing?.(provider, model, usage.inputTokens);
  const usd = event.usd ?? (price === undefined ? undefined : costOf(usage, price));
  return {
    kind: 'model',
    ...head,
    status: stopReason,
    provider,
    model,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    durationMs,
    ...defined({ usd }),
  };
}

type Decided = Pick<AuditedCall, 'decidedBy' | 'decision'>;

/** By the place of the call. In a private chat the person who was asked is the chat. */
function decisionsIn(events: readonly Event[], { chatId }: TurnName): Map<string, Decided> {
  const asked = new Map<string, string>();
  const decisions = new Map<string, Decided>();
  for (const event of events) {
    if (event.type === 'approval_requested') asked.set(event.approvalId, placeOf(event));
    if (event.type !== 'approval_decided') continue;
    const place = asked.get(event.approvalId);
    const { decision } = event;
    const byPerson = decision === 'allow' || decision === 'deny';
    if (place !== undefined) decisions.set(place, { decision, ...(byPerson && { decidedBy: chatId }) });
  }
  return decisions;
}

interface AuditContext {
  readonly decisions: ReadonlyMap<string, Decided>;
  readonly options: AuditOptions;
}

function toolCall(
  event: EventOf<'tool_result'>,
  head: AuditEntryBase,
  { decisions, options }: AuditContext,
): AuditedCall {
  const decided = decisions.get(placeOf(event));
  return {
    kind: 'tool',
    ...head,
    tool: event.toolName,
    ...effectOf(event.toolName, options),
    status: statusOf(event, decided),
    ...decided,
    durationMs: event.durationMs,
  };
}

function statusOf(
  { denied, notRun, isError }: EventOf<'tool_result'>,
  decided: Decided | undefined,
): AuditedCall['status'] {
  if (decided?.decision === 'expired') return 'expired';
  if (denied === true) return 'denied';
  if (notRun === true) return 'not_run';
  return isError ? 'failed' : 'done';
}

/** Started calls with an unknown outcome. */
function unfinished(
  events: readonly Event[],
  turn: TurnName,
  { decisions, options }: AuditContext,
): readonly AuditedCall[] {
  const answered = new Set(events.flatMap((event) => (event.type === 'tool_result' ? [placeOf(event)] : [])));
  const open = new Map<string, AuditedCall>();
  for (const event of events) {
    if (event.type !== 'tool_started' || answered.has(placeOf(event))) continue;
    const { time, toolName: tool } = event;
    const effect = effectOf(tool, options);
    const decided = decisions.get(placeOf(event));
    open.set(placeOf(event), { kind: 'tool', time, ...turn, tool, ...effect, status: 'unknown', ...decided });
  }
  return [...open.values()];
}

function effectOf(name: string, { tools = [] }: AuditOptions): Pick<AuditedCall, 'effect'> {
  const effect = tools.find((tool) => tool.name === name)?.effect;
  return effect === undefined ? {} : { effect };
}

function placeOf({ turn, index, runId }: { turn: number; index: number; runId: string }): string {
  return `${runId}/${turn}/${index}`;
}
