import type { Event, Pricing, Tool } from '@cobbler/agent';
import { costOf } from '@cobbler/agent';
import type { CallItem, StoredEvent } from '@cobbler/agent/events';
import { itemsOf } from '@cobbler/agent/events';
import { callable, listOf, oneOf, read, record, text, when, withMethods } from '@cobbler/agent/input';
import { defined, isoTime } from '@cobbler/agent/values';
import type { EventStore } from './storage/event-store.ts';

interface AuditEntryBase {
  /** Time as ISO 8601 in UTC. */
  readonly time: string;
  readonly chatId: string;
  readonly runId: string;
}

/** A request to the model. */
export interface AuditedModelCall extends AuditEntryBase {
  readonly kind: 'model';
  /** The model's stop reason, or `failed`. */
  readonly status: string;
  /** Absent if the request failed. */
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Cost in US dollars; absent if the price is unknown. */
  readonly usd?: number;
  readonly durationMs: number;
  /** The kind of the error of a failed request. */
  readonly error?: string;
}

/** A tool call by the model. */
export interface AuditedCall extends AuditEntryBase {
  readonly kind: 'tool';
  readonly tool: string;
  /** The tool's effect; absent if the tool is no longer known. */
  readonly effect?: NonNullable<Tool['effect']>;
  /** `unknown` if the process crashed before the result was recorded. */
  readonly status: 'done' | 'failed' | 'denied' | 'expired' | 'not_run' | 'unknown';
  /** The chat of the user who decided; absent if no user was asked. */
  readonly decidedBy?: string;
  readonly decision?: 'allow' | 'deny' | 'expired' | 'superseded';
  readonly durationMs?: number;
}

/** An action for a chat: a model request or a tool call. */
export type AuditEntry = AuditedModelCall | AuditedCall;

/** The part of the logs to read, and the prices to use. */
export interface AuditOptions {
  readonly chatId?: string;
  /** Earliest time of the entries, in milliseconds since 1970. */
  readonly since?: number;
  /** Prices to use. Default: the costs in the logs, which exist only if the prices were known. */
  readonly pricing?: Pricing;
  /** Tools whose effects are added to the entries. */
  readonly tools?: readonly Pick<Tool, 'name' | 'effect'>[];
}

const readLogs = withMethods<Pick<EventStore, 'sessions' | 'read'>>('sessions', 'read');

const readOptions = record<AuditOptions>({
  chatId: text,
  since: when(
    (value) => typeof value === 'number' && Math.abs(value) <= 8.64e15,
    'a time in milliseconds since 1970',
  ),
  pricing: callable,
  tools: listOf(
    record<NonNullable<AuditOptions['tools']>[number]>(
      { name: text, effect: oneOf('read', 'idempotent', 'once') },
      ['name'],
    ),
  ),
});

/**
 * Returns the model requests and tool calls in the logs of turns, in the order of the turns. It does not contain
 * deleted or pruned turns, nor any message text.
 */
export async function* auditOf(
  turns: Pick<EventStore, 'sessions' | 'read'>,
  options: AuditOptions = {},
): AsyncGenerator<AuditEntry> {
  const given = read(options, readOptions);
  const store = read(turns, readLogs, 'turns');
  const { chatId, since } = given;
  const first = since === undefined ? '' : isoTime(since);
  for (const sessionId of await store.sessions()) {
    const turn = turnIn(sessionId);
    if (turn === undefined || (chatId !== undefined && turn.chatId !== chatId)) continue;
    for (const entry of entriesOf(await store.read(sessionId), turn, given))
      if (entry.time >= first) yield entry;
  }
}

type TurnName = Pick<AuditEntryBase, 'chatId' | 'runId'>;

/** Parses an id that `turnSession` has created. */
function turnIn(sessionId: string): TurnName | undefined {
  const match = /^chat:([^:]+):(.+)$/.exec(sessionId);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { chatId: match[1], runId: match[2] };
}

function entriesOf(events: readonly Event[], turn: TurnName, options: AuditOptions): AuditEntry[] {
  const { items } = itemsOf(events);
  const failures = events.filter((event) => event.type === 'ask_failed');
  const responses = items.filter((item) => item.kind === 'response');
  const placed = [
    ...failures.map(({ seq, time, durationMs, error, usd }): PositionedEntry => {
      const failure = { status: 'failed', durationMs, error: error.kind, ...defined({ usd }) };
      return [seq, { kind: 'model', time, ...turn, ...failure }];
    }),
    ...events.flatMap((event): PositionedEntry[] =>
      event.type === 'spent' ? [[event.seq, modelCall(requestOf(event), turn, options)]] : [],
    ),
    ...responses.flatMap(({ event }): PositionedEntry[] =>
      event === undefined ? [] : [[event.seq, modelCall(event, turn, options)]],
    ),
    ...responses.flatMap(({ calls }) => calls).flatMap((call) => toolCall(call, turn, options)),
  ];
  return placed.sort(([one], [other]) => one - other).map(([, entry]) => entry);
}

type PositionedEntry = readonly [number, AuditEntry];

type ModelRequestEvent = Pick<StoredEvent<'assistant'>, 'time' | 'usage' | 'durationMs'> &
  Partial<Pick<StoredEvent<'assistant'>, 'provider' | 'model' | 'stopReason' | 'usd'>>;

function requestOf({ time, provider, model, spent }: StoredEvent<'spent'>): ModelRequestEvent {
  return { time, ...spent, ...defined({ provider, model }) };
}

function modelCall(event: ModelRequestEvent, turn: TurnName, { pricing }: AuditOptions): AuditedModelCall {
  const { time, provider, model, usage, stopReason = 'complete', durationMs } = event;
  const price = pricing?.(provider ?? '', model ?? '', usage.inputTokens);
  const usd = event.usd ?? (price === undefined ? undefined : costOf(usage, price));
  return {
    kind: 'model',
    time,
    ...turn,
    status: stopReason,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    durationMs,
    ...defined({ provider, model, usd }),
  };
}

/** Returns the entry of a tool call, if a tool was started. A started call with an unknown outcome comes last. */
function toolCall(call: CallItem, turn: TurnName, { tools = [] }: AuditOptions): PositionedEntry[] {
  const { part, report, startedAt } = call;
  const time = report?.time ?? startedAt;
  if (time === undefined) return [];
  const decision = call.decision?.decision;
  // A private chat has the same id as its user, who made the decision.
  const decidedBy = decision === 'allow' || decision === 'deny' ? turn.chatId : undefined;
  const effect = tools.find((tool) => tool.name === part.toolName)?.effect;
  const known = { ...defined({ effect }), status: statusOf(report, decision) };
  const rest = defined({ decision, decidedBy, durationMs: report?.durationMs });
  const entry: AuditedCall = { kind: 'tool', time, ...turn, tool: part.toolName, ...known, ...rest };
  return [[report?.seq ?? Number.MAX_SAFE_INTEGER, entry]];
}

function statusOf(
  report: StoredEvent<'tool_result'> | undefined,
  decision: AuditedCall['decision'],
): AuditedCall['status'] {
  if (report === undefined) return 'unknown';
  if (decision === 'expired') return 'expired';
  if (report.denied === true) return 'denied';
  if (report.notRun === true) return 'not_run';
  return report.isError ? 'failed' : 'done';
}
