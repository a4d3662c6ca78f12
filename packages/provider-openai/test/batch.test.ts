import { defineTool, Executor } from '@cobbler/agent';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createOpenAIBatch } from '../src/batch.ts';
import { openAIPrice, openAIPricing } from '../src/index.ts';

const address = 'https://api.openai.com/v1';
const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

interface Sent {
  readonly custom_id: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The end of one line of a result file. */
type Result = { readonly response?: unknown; readonly error?: unknown };

/** Serves batches whose results these functions return, one a batch. */
function serve(status: string, ...results: readonly ((sent: Sent) => Result)[]) {
  const uploads: Sent[][] = [];
  const deleted: string[] = [];
  const created: unknown[] = [];
  server.use(
    http.post(`${address}/files`, async ({ request }) => {
      const form = await request.formData();
      const lines = (await (form.get('file') as File).text()).trim().split('\n');
      const id = `file-in-${uploads.push(lines.map((line) => JSON.parse(line) as Sent)) - 1}`;
      return HttpResponse.json({ id, purpose: form.get('purpose') });
    }),
    http.post(`${address}/batches`, async ({ request }) => {
      created.push(await request.json());
      return HttpResponse.json({ id: `batch_${uploads.length - 1}`, status: 'validating' });
    }),
    http.get(`${address}/batches/:id`, ({ params }) => {
      const index = String(params['id']).slice(6);
      const errors = { data: [{ code: 'invalid_file', message: 'The file is not valid.' }] };
      return HttpResponse.json({
        ...{ status, input_file_id: `file-in-${index}`, output_file_id: `file-out-${index}` },
        ...(status === 'failed' && { errors }),
      });
    }),
    http.get(`${address}/files/:id/content`, ({ params }) => {
      const index = Number(String(params['id']).slice(9));
      const lines = (uploads[index] ?? []).map((sent) => ({
        ...{ custom_id: sent.custom_id, response: null, error: null },
        ...results[index]?.(sent),
      }));
      return HttpResponse.text(lines.map((line) => JSON.stringify(line)).join('\n'));
    }),
    http.delete(`${address}/files/:id`, ({ params }) => {
      deleted.push(String(params['id']));
      return HttpResponse.json({ deleted: true });
    }),
  );
  return { uploads, deleted, created };
}

const succeeded = (body: object) => ({ response: { status_code: 200, request_id: 'req_1', body } });

const response = (output: readonly unknown[], status = 'completed') =>
  succeeded({
    ...{ id: 'resp_1', object: 'response', model: 'gpt-6.2-sol', status, error: null, output },
    ...(status === 'incomplete' && { incomplete_details: { reason: 'max_output_tokens' } }),
    usage: { input_tokens: 100, output_tokens: 20, input_tokens_details: { cached_tokens: 10 } },
  });

const said = (text: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

const completion = (message: object, finish_reason: string) =>
  succeeded({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', model: 'gpt-6.2-sol' },
    choices: [
      { index: 0, message: { role: 'assistant', refusal: null, ...message }, finish_reason, logprobs: null },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 10 } },
  });

const clock = defineTool({
  name: 'clock',
  description: 'Returns the time.',
  parameters: z.object({ zone: z.string() }),
  execute: ({ zone }) => `12:00 ${zone}`,
});

const agent = (options = {}) =>
  createOpenAIBatch({ apiKey: 'key-1', model: 'gpt-6.2-sol', env: {}, collectMs: 0, pollMs: 0, ...options });

const once = { retry: { retries: 0, forMs: 0 } };

describe('OpenAI in batches', () => {
  const call = {
    id: 'fc_1',
    type: 'function_call',
    call_id: 'call_1',
    name: 'clock',
    arguments: '{"zone":"UTC"}',
  };
  const toolCall = {
    id: 'call_1',
    type: 'function',
    function: { name: 'clock', arguments: '{"zone":"UTC"}' },
  };

  test.each([
    ['responses', response([call]), response([said('It is noon.')])],
    [
      'chat',
      completion({ content: null, tool_calls: [toolCall] }, 'tool_calls'),
      completion({ content: 'It is noon.', annotations: [] }, 'stop'),
    ],
  ] as const)('runs a task with a tool over %s for half the price', async (api, first, second) => {
    const { uploads, deleted, created } = serve(
      'completed',
      () => first,
      () => second,
    );
    const executor = new Executor({ agent: agent({ api }), tools: [clock], pricing: openAIPricing });
    const { status, text, metrics, error } = await executor.run('What time is it?');
    expect([status, text, error]).toEqual(['complete', 'It is noon.', undefined]);
    const { input = 0, output = 0, cacheRead = 0 } = openAIPrice('gpt-6.2-sol', 100) ?? {};
    expect(metrics.usd).toBeCloseTo((2 * 0.5 * (90 * input + 10 * cacheRead + 20 * output)) / 1e6, 12);
    const path = api === 'chat' ? '/v1/chat/completions' : '/v1/responses';
    expect(created[0]).toEqual({ input_file_id: 'file-in-0', endpoint: path, completion_window: '24h' });
    const [sent] = uploads[1] ?? [];
    expect([sent?.url, 'stream' in (sent?.body ?? {}), 'stream_options' in (sent?.body ?? {})]).toEqual([
      path,
      false,
      false,
    ]);
    expect(JSON.stringify(sent?.body)).toContain('12:00 UTC');
    expect(deleted).toEqual(['file-out-0', 'file-in-0', 'file-out-1', 'file-in-1']);
  });

  test('a response that was cut off ends the run as one that streams does', async () => {
    serve('completed', () => response([said('Half of')], 'incomplete'));
    const { status, text } = await new Executor({ agent: agent() }).run('Go.');
    expect([status, text]).toEqual(['max_tokens', 'Half of']);
  });

  test.each([
    [{ response: { status_code: 400, body: { error: { message: 'Unknown field.' } } } }, 'invalid'],
    [{ response: { status_code: 500, body: { error: { message: 'It failed.' } } } }, 'agent'],
    [{ error: { code: 'batch_expired', message: 'Not executed in time.' } }, 'agent'],
    [{ error: { code: 'batch_cancelled', message: 'It was cancelled.' } }, 'invalid'],
  ])('%j fails as %s', async (result, kind) => {
    serve('completed', () => result);
    const { status, error } = await new Executor({ agent: agent(once) }).run('Go.');
    expect([status, error?.kind]).toEqual(['failed', kind]);
  });

  test('a batch that is refused as a whole fails with its reason', async () => {
    serve('failed');
    const { status, error } = await new Executor({ agent: agent(once) }).run('Go.');
    expect([status, error?.kind]).toEqual(['failed', 'invalid']);
    expect(error?.message).toContain('The file is not valid.');
  });

  test('reads the results of a batch that expired in part', async () => {
    serve('expired', () => response([said('In time.')]));
    expect((await new Executor({ agent: agent() }).run('Go.')).text).toBe('In time.');
  });
});
