import type { ErrorData, StopReason, Usage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { BackendEvent, End } from '../events/backend-event.ts';
import { failureOf } from '../events/failure.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, numberOf, objectIn, textOf } from '../events/fields.ts';

export const codexName = 'codex';

/** Reads one message of `codex exec --json`. Unknown messages return no events. */
export function readCodexEvent(event: Fields): BackendEvent[] {
  switch (event['type']) {
    case 'thread.started':
      return [{ type: 'session', id: textOf(event['thread_id']) }];
    case 'item.started':
      return readItem(fieldsOf(event['item']), false);
    case 'item.completed':
      return readItem(fieldsOf(event['item']), true);
    case 'turn.completed':
      return [{ type: 'end', ok: true, totalUsage: usageOf(fieldsOf(event['usage'])) }];
    case 'turn.failed':
      return [failedEnd(textOf(fieldsOf(event['error'])['message']))];
    // Codex also reports this when it retries a request. Only the end of the turn counts.
    case 'error':
      return [{ type: 'notice', text: textOf(event['message']) }];
    default:
      return [];
  }
}

/** Returns an item's type in the spelling of `codex exec`. */
export function typeOf(item: Fields): string {
  return textOf(item['type']).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Reads an item of `exec` or of the app server, whose field names differ only in spelling. */
export function readItem(item: Fields, isOver: boolean): BackendEvent[] {
  const type = typeOf(item);
  const id = textOf(item['id']);
  if (type === 'agent_message')
    return isOver ? [{ type: 'part', part: { type: 'text', text: textOf(item['text']) }, answer: id }] : [];
  if (type === 'reasoning') {
    // The app server sends a list of summaries.
    const { summary } = item;
    const text = Array.isArray(summary) ? summary.join('\n\n') : textOf(item['text']);
    return isOver && text !== '' ? [{ type: 'part', part: { type: 'reasoning', text } }] : [];
  }
  if (!callTypes.has(type)) return [];
  const call: BackendEvent[] = [
    { type: 'part', part: { type: 'tool_call', id, toolName: type, arguments: argumentsOf(type, item) } },
    { type: 'answered' },
  ];
  // Some items have no start event; a repeated call counts once.
  return isOver ? [...call, { type: 'result', callId: id, ...outcomeOf(type, item) }] : call;
}

/** Types of items that are tool calls. */
export const callTypes: ReadonlySet<string> = new Set([
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'web_search',
  'collab_tool_call',
  'image_view',
]);

function argumentsOf(type: string, item: Fields): Record<string, unknown> {
  const names = {
    command_execution: ['command', 'cwd'],
    file_change: ['changes'],
    mcp_tool_call: ['server', 'tool', 'arguments'],
  }[type] ?? ['query', 'path', 'tool'];
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

function outcomeOf(type: string, item: Fields): { text: string; isError: boolean } {
  const status = textOf(item['status']);
  const code = numberOf(item['exit_code'] ?? item['exitCode']);
  const isError = ['failed', 'declined'].includes(status) || (code !== undefined && code !== 0);
  if (type === 'command_execution') {
    const output = textOf(item['aggregated_output'] ?? item['aggregatedOutput']);
    return { text: code === undefined || code === 0 ? output : `[exit ${code}]\n${output}`, isError };
  }
  const result = item['result'] ?? item['error'];
  return { text: result === undefined || result === null ? status : JSON.stringify(result), isError };
}

/** Returns the usage. Codex includes cached input in the input, and counts from the start of the thread. */
export function usageOf(usage: Fields): Usage {
  const cached = numberOf(usage['cached_input_tokens'] ?? usage['cachedInputTokens']);
  const thought = numberOf(usage['reasoning_output_tokens'] ?? usage['reasoningOutputTokens']);
  return {
    inputTokens: numberOf(usage['input_tokens'] ?? usage['inputTokens']) ?? 0,
    outputTokens: numberOf(usage['output_tokens'] ?? usage['outputTokens']) ?? 0,
    ...defined({ cacheReadTokens: cached, reasoningTokens: thought }),
  };
}

/** Stop reasons that Codex reports only in its message. */
const endings: readonly (readonly [words: RegExp, stop: StopReason])[] = [
  [/reason: max_output_tokens/, 'max_tokens'],
  [/reason: content_filter/, 'refusal'],
];

/** Returns the end of a failed turn. A number in Codex's usual position of the message counts as a status. */
export function failedEnd(message: string, status?: number): End {
  const stop = endings.find(([pattern]) => pattern.test(message))?.[1];
  return { type: 'end', ok: false, error: errorOf(message, status), ...defined({ stop }) };
}

function errorOf(message: string, status: number | undefined): ErrorData {
  const named = /(?:unexpected|last) status:? (\d{3})\b/.exec(message)?.[1];
  const known = status ?? (named === undefined ? undefined : Number(named));
  if (/ran out of room/i.test(message))
    return { kind: 'invalid', code: 'context_full', message, provider: codexName };
  return failureOf({ message: serviceText(message), status: known }, codexName);
}

/** Returns the message of a service error, which Codex reports as the service's JSON. */
function serviceText(message: string): string {
  const inner = textOf(fieldsOf(objectIn(message)?.['error'])['message']);
  return inner === '' ? message : `invalid_request: ${inner}`;
}
