/**
 * Claude through the Message Batches API: half the price, for work that may take 24 hours.
 *
 * @module
 */

import type { Agent } from '@cobbler/agent';
import type { BatchHttp, BatchOptions, BatchOutcome, BatchService } from '@cobbler/agent/batch';
import { batchFields, withBatches } from '@cobbler/agent/batch';
import { read, record } from '@cobbler/agent/input';
import type { FactoryConfig } from '@cobbler/agent/provider';
import type { ClaudeOptions } from './create-claude.ts';
import { claudeReaders, createClaude } from './create-claude.ts';
import { fieldsOf } from './fields.ts';
import { batchProvider } from './prices.ts';

/** Settings of {@link createClaudeBatch}. */
export interface ClaudeBatchOptions extends FactoryConfig, Omit<ClaudeOptions, 'transport'>, BatchOptions {}

/**
 * Creates an agent like {@link createClaude} whose requests are sent in batches. Each response takes minutes to hours,
 * at most 24 hours, and costs half. Nothing streams. Its provider is `claude-batch`, for which `claudePricing` returns
 * half the price. Requests of concurrent runs share batches.
 *
 * @throws AgentError `invalid` like `createClaude`.
 */
export function createClaudeBatch(options: ClaudeBatchOptions = {}): Agent {
  const agent = createClaude(withBatches(read(options, readOptions), claudeBatches));
  return { ...agent, provider: batchProvider };
}

const { transport: _, ...readers } = claudeReaders;
const readOptions = record<ClaudeBatchOptions>({ ...readers, ...batchFields });

/** The Message Batches API. Source: platform.claude.com/docs/en/api/messages/batches. */
const claudeBatches: BatchService = {
  async submit(entries, http) {
    const { id } = await http.sendFor(['id'], 'POST', `${http.url}/batches`, {
      requests: entries.map(({ id, body: { stream: _, ...params } }) => ({ custom_id: id, params })),
    });
    return id;
  },
  async outcomes(batch, http) {
    const { processing_status: status } = await http.sendFor(
      ['processing_status'],
      'GET',
      addressOf(batch, http),
    );
    if (status !== 'ended') return undefined;
    // The address in the response is not used, because the key would be sent to that URL.
    const lines = await http.lines('GET', `${addressOf(batch, http)}/results`);
    const results = new Map(lines.map((line) => [line['custom_id'], fieldsOf(line['result'])]));
    return (id) => outcomeOf(results.get(id) ?? {});
  },
  async cancel(batch, http) {
    await http.send('POST', `${addressOf(batch, http)}/cancel`);
  },
};

function addressOf(batch: string, { url }: BatchHttp): string {
  return `${url}/batches/${encodeURIComponent(batch)}`;
}

/** The HTTP status of each type of error. Source: platform.claude.com/docs/en/api/errors. */
const statuses: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

function outcomeOf({ type, message, error }: Readonly<Record<string, unknown>>): BatchOutcome {
  if (type === 'succeeded') return { events: eventsOf(fieldsOf(message)) };
  // The service wraps the error as in the body of a response.
  const wrapped = fieldsOf(error);
  const details = fieldsOf(wrapped['error'] ?? error);
  if (type === 'errored') {
    const status = statuses.get(details['type']) ?? 500;
    return { status, error: { type: 'error', error: details } };
  }
  if (type === 'canceled') return failed(400, 'invalid_request_error', 'The batch was cancelled.');
  if (type === 'expired')
    return failed(
      504,
      'timeout_error',
      'The batch expired after 24 hours, before this request was processed.',
    );
  return failed(
    502,
    'api_error',
    'The batch ended, but its result for this request is missing or of an unknown type.',
  );
}

function failed(status: number, type: string, message: string): BatchOutcome {
  return { status, error: { type: 'error', error: { type, message } } };
}

/** Returns a whole message as the events of a stream. */
function eventsOf(message: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { content, stop_reason, stop_sequence, stop_details, usage } = message;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  // Content that is no list stays where it is, so that the response is invalid.
  const start = { ...message, content: Array.isArray(content) ? [] : content };
  return [
    { type: 'message_start', message: start },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details }, usage },
    { type: 'message_stop' },
  ];
}
