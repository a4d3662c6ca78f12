import type { AssistantPart, ErrorData, ErrorKind, StopReason, Usage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { BackendEvent, End } from '../events/backend-event.ts';
import { failureOf } from '../events/failure.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, listOf, numberOf, textOf } from '../events/fields.ts';
import { claudeName } from './claude-environment.ts';

/** Claude Code's messages for a conversation that cannot continue, as of version 2.1. */
const gone = /No conversation found|is not a valid session|not a UUID/i;

const stops: Readonly<Record<string, StopReason>> = {
  end_turn: 'complete',
  stop_sequence: 'complete',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  refusal: 'refusal',
  model_context_window_exceeded: 'context_full',
};

/** Returns the events of a message of Claude Code. Its standard output and the Agent SDK use the same messages. */
export function claudeEvents(message: Fields): BackendEvent[] {
  // Messages of its subagents are ignored; the result includes their usage.
  if (typeof message['parent_tool_use_id'] === 'string') return [];
  switch (message['type']) {
    case 'system':
      return readSystem(message);
    case 'assistant':
      return readAssistant(message);
    case 'user':
      return readUser(message);
    case 'stream_event':
      return readStreamEvent(fieldsOf(message['event']));
    case 'result':
      return [readResult(message)];
    default:
      return [];
  }
}

function readSystem(message: Fields): BackendEvent[] {
  if (message['subtype'] === 'init') {
    const model = textOf(message['model']);
    const id = textOf(message['session_id']);
    return id === '' ? [] : [{ type: 'session', id, ...(model !== '' && { model }) }];
  }
  if (message['subtype'] === 'api_retry') {
    const status = numberOf(message['error_status']);
    return [
      {
        type: 'withdrawn',
        attempt: numberOf(message['attempt']) ?? 1,
        error: failureOf({ message: textOf(message['error']) || 'The service failed.', status }, claudeName),
        delayMs: numberOf(message['retry_delay_ms']) ?? 0,
      },
    ];
  }
  if (message['subtype'] === 'permission_denied')
    return [{ type: 'notice', text: `denied: ${textOf(message['tool_name'])}` }];
  return [];
}

function readAssistant(message: Fields): BackendEvent[] {
  // Claude Code's own description of a failure, not the model's text. The result contains the same in its fields.
  if (message['is_api_error_message'] === true) return [];
  const body = fieldsOf(message['message']);
  const answer = textOf(body['id']);
  const model = textOf(body['model']);
  return listOf(body['content']).flatMap((block): BackendEvent[] => {
    const part = partOf(fieldsOf(block));
    if (part === undefined) return [];
    return [{ type: 'part', part, ...(answer !== '' && { answer }), ...(model !== '' && { model }) }];
  });
}

function partOf(block: Fields): AssistantPart | undefined {
  if (block['type'] === 'text') return { type: 'text', text: textOf(block['text']) };
  if (block['type'] === 'thinking') return { type: 'reasoning', text: textOf(block['thinking']) };
  if (block['type'] !== 'tool_use') return undefined;
  return {
    type: 'tool_call',
    id: textOf(block['id']),
    toolName: textOf(block['name']),
    arguments: { ...fieldsOf(block['input']) },
  };
}

function readUser(message: Fields): BackendEvent[] {
  return listOf(fieldsOf(message['message'])['content']).flatMap((item): BackendEvent[] => {
    const block = fieldsOf(item);
    if (block['type'] !== 'tool_result') return [];
    const isError = block['is_error'] === true;
    return [
      { type: 'result', callId: textOf(block['tool_use_id']), text: resultText(block['content']), isError },
    ];
  });
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  const lines = listOf(content).map((item) => {
    const { type, text } = fieldsOf(item);
    return type === 'text' ? textOf(text) : `[${textOf(type) || 'something'}]`;
  });
  return lines.join('\n');
}

function readStreamEvent(event: Fields): BackendEvent[] {
  if (event['type'] === 'content_block_delta') {
    const delta = fieldsOf(event['delta']);
    if (delta['type'] === 'text_delta') return [{ type: 'delta', of: 'text', text: textOf(delta['text']) }];
    if (delta['type'] === 'thinking_delta')
      return [{ type: 'delta', of: 'reasoning', text: textOf(delta['thinking']) }];
    return [];
  }
  if (event['type'] !== 'message_delta') return [];
  const stop = stops[textOf(fieldsOf(event['delta'])['stop_reason'])];
  return [{ type: 'answered', usage: usageOf(fieldsOf(event['usage'])), ...defined({ stop }) }];
}

/** Returns the usage. Claude Code counts cached input separately. */
export function usageOf(usage: Fields): Usage {
  const read = numberOf(usage['cache_read_input_tokens']) ?? 0;
  const written = numberOf(usage['cache_creation_input_tokens']) ?? 0;
  const thought = numberOf(fieldsOf(usage['output_tokens_details'])['thinking_tokens']);
  return {
    inputTokens: (numberOf(usage['input_tokens']) ?? 0) + read + written,
    outputTokens: numberOf(usage['output_tokens']) ?? 0,
    cacheReadTokens: read,
    cacheWriteTokens: written,
    ...defined({ reasoningTokens: thought }),
  };
}

function readResult(result: Fields): End {
  const ok = result['subtype'] === 'success' && result['is_error'] !== true;
  const turns = numberOf(result['num_turns']);
  const usd = numberOf(result['total_cost_usd']);
  const stop = stops[textOf(result['stop_reason'])];
  const isCut = result['api_error'] === 'max_output_tokens';
  const text = typeof result['result'] === 'string' ? result['result'] : undefined;
  const denials = listOf(result['permission_denials']).map((denial) => textOf(fieldsOf(denial)['tool_name']));
  const errors = listOf(result['errors']).map(textOf);
  return {
    type: 'end',
    ok,
    ...defined({ text, turns, totalUsd: usd, stop: isCut ? 'max_tokens' : stop }),
    ...(!ok && { error: errorOf(result, text ?? errors.join('; ')) }),
    usage: usageOf(fieldsOf(result['usage'])),
    ...usdOf(fieldsOf(result['model_usage_since_last_result'])),
    ...(denials.length > 0 && { denials }),
    ...(!ok && turns === 0 && errors.some((error) => gone.test(error)) && { stale: true }),
  };
}

/** Returns the cost of all models in this run; undefined if not reported. */
function usdOf(models: Fields): { usd?: number } {
  const costs = Object.values(models).map((model) => numberOf(fieldsOf(model)['costUSD']) ?? 0);
  return costs.length === 0 ? {} : { usd: costs.reduce((sum, cost) => sum + cost, 0) };
}

/**
 * Returns the error of a result: from its status, otherwise from the connection failure, then the kind of end, and
 * only then from its message.
 */
function errorOf(result: Fields, message: string): ErrorData {
  const subtype = textOf(result['subtype']);
  if (subtype === 'error_max_turns') return limited('turns', message);
  if (subtype === 'error_max_budget_usd') return limited('usd', message);
  if (/^aborted/.test(textOf(result['terminal_reason'])))
    return claudeError('aborted', 'cancelled', message || 'Claude Code was interrupted.');
  if (result['terminal_reason'] === 'prompt_too_long') return claudeError('invalid', 'context_full', message);
  const status = numberOf(result['api_error_status']);
  return failureOf({ message, status, connection: result['api_error'] === 'connection_failed' }, claudeName);
}

function limited(code: 'turns' | 'usd', message: string): ErrorData {
  return claudeError('limit', code, message || `The limit on ${code} was reached.`);
}

function claudeError(kind: ErrorKind, code: string, message: string): ErrorData {
  return { kind, code, message, provider: claudeName };
}
