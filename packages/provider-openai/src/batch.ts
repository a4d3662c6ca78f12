/**
 * OpenAI through the Batch API: half the price, for work that may take 24 hours.
 *
 * @module
 */

import type { Agent } from '@cobbler/agent';
import type { BatchEntry, BatchHttp, BatchOptions, BatchOutcome, BatchService } from '@cobbler/agent/batch';
import { batchFields, withBatches } from '@cobbler/agent/batch';
import { read, record } from '@cobbler/agent/input';
import type { FactoryConfig } from '@cobbler/agent/provider';
import type { OpenAIOptions } from './create-openai.ts';
import { createOpenAI, openAIReaders } from './create-openai.ts';
import type { Fields } from './fields.ts';
import { fieldsOf, objectsIn, textIn } from './fields.ts';
import { batchProvider } from './prices.ts';

/** Settings of {@link createOpenAIBatch}. */
export interface OpenAIBatchOptions extends FactoryConfig, Omit<OpenAIOptions, 'transport'>, BatchOptions {}

/**
 * Creates an agent like {@link createOpenAI} whose requests are sent in batches, for OpenAI and servers with the same
 * Batch API. Each response takes minutes to hours, at most 24 hours, and costs half. Nothing streams. Its provider is
 * `openai-batch`, for which `openAIPricing` returns half the price. Requests of concurrent runs share batches. The
 * uploaded requests and the results are deleted once they are read.
 *
 * @throws AgentError `invalid` like `createOpenAI`.
 */
export function createOpenAIBatch(options: OpenAIBatchOptions = {}): Agent {
  const agent = createOpenAI(withBatches(read(options, readOptions), openAIBatches));
  return { ...agent, provider: batchProvider };
}

const { transport: _, ...readers } = openAIReaders;
const readOptions = record<OpenAIBatchOptions>({ ...readers, ...batchFields });

/** The Batch API. Source: developers.openai.com/api/docs/guides/batch. */
const openAIBatches: BatchService = {
  async submit(entries, http) {
    const { base, endpoint } = placeOf(http);
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob(entries.map((entry) => lineOf(entry, endpoint))), 'requests.jsonl');
    const file = await http.sendFor(['id'], 'POST', `${base}/files`, form);
    const batch = { input_file_id: file.id, endpoint, completion_window: '24h' };
    return (await http.sendFor(['id'], 'POST', `${base}/batches`, batch)).id;
  },
  async outcomes(batch, http) {
    const { base } = placeOf(http);
    const state = await http.sendFor(['status'], 'GET', `${base}/batches/${encodeURIComponent(batch)}`);
    if (!ended.has(state.status)) return undefined;
    if (state.status === 'failed') return () => refusedBatch(state);
    const files = [textIn(state, 'output_file_id'), textIn(state, 'error_file_id')].filter((id) => id !== '');
    const outcomes = new Map<string, Fields>();
    for (const id of files) {
      const lines = await http.lines('GET', `${base}/files/${encodeURIComponent(id)}/content`);
      for (const line of lines) outcomes.set(textIn(line, 'custom_id'), line);
    }
    await deleteFiles([...files, textIn(state, 'input_file_id')], http);
    return (id) => outcomeOf(outcomes.get(id) ?? {});
  },
  async cancel(batch, http) {
    await http.send('POST', `${placeOf(http).base}/batches/${encodeURIComponent(batch)}/cancel`);
  },
};

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Returns the base URL of the service, and the API of the requests as a batch names it. */
function placeOf({ url }: BatchHttp): { readonly base: string; readonly endpoint: string } {
  const path = ['/responses', '/chat/completions'].find((end) => url.endsWith(end)) ?? '';
  return { base: url.slice(0, url.length - path.length), endpoint: `/v1${path}` };
}

function lineOf({ id, body: { stream: _, stream_options: __, ...body } }: BatchEntry, url: string): string {
  return `${JSON.stringify({ custom_id: id, method: 'POST', url, body })}\n`;
}

function refusedBatch(state: Fields): BatchOutcome {
  const [error] = objectsIn(fieldsOf(state['errors']), 'data');
  const message = textIn(error ?? {}, 'message') || 'The service gave no reason for rejecting the batch.';
  return { status: 400, error: { error: { ...error, message } } };
}

/** Deletes files. A file that cannot be deleted expires or can be deleted by hand, so the responses are not lost. */
async function deleteFiles(ids: readonly string[], http: BatchHttp): Promise<void> {
  const { base } = placeOf(http);
  for (const id of ids) await http.send('DELETE', `${base}/files/${encodeURIComponent(id)}`).catch(() => {});
}

function outcomeOf(line: Fields): BatchOutcome {
  const { status_code: given, body } = fieldsOf(line['response']);
  const error = fieldsOf(line['error']);
  if (typeof given === 'number')
    return given === 200 ? { events: eventsOf(fieldsOf(body)) } : { status: given, error: body };
  const isExpired = textIn(error, 'code') === 'batch_expired';
  const message = textIn(error, 'message') || 'The service returned no response to this request.';
  return { status: isExpired ? 504 : 400, error: { error: { ...error, message } } };
}

/** Returns a whole response of either API as the events of a stream. */
function eventsOf(body: Fields): readonly unknown[] {
  if (body['object'] !== 'response') return [body];
  const status = textIn(body, 'status');
  const type = status === 'incomplete' || status === 'failed' ? `response.${status}` : 'response.completed';
  return [{ type, response: body }];
}
