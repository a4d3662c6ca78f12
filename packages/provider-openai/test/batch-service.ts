import type { MockedSubject } from '@cobbler/conformance/msw';
import { payloadsOf, withoutPauses } from '@cobbler/conformance/msw';
import type { HttpResponseResolver } from 'msw';
import { HttpResponse, http } from 'msw';
import { createOpenAIBatch } from '../src/batch.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';

type Fields = Record<string, unknown>;

interface Line {
  readonly custom_id: string;
  readonly url: string;
  readonly body: Fields;
}

/** OpenAI in batches with both APIs, whose requests the mock of the streaming service answers. */
export const batchSubjects: readonly MockedSubject[] = [
  {
    name: 'openai responses batch',
    create: (link) => createOpenAIBatch({ ...withoutPauses(link), api: 'responses' }),
    testing: responsesTesting,
    handlers: (baseURL, service) => handlers(baseURL, service, responseOf),
  },
  {
    name: 'openai chat batch',
    create: (link) => createOpenAIBatch({ model: 'llama3.3', ...withoutPauses(link), api: 'chat' }),
    testing: chatTesting,
    handlers: (baseURL, service) => handlers(baseURL, service, completionOf),
  },
];

/** Returns the body of a result for a streamed response; undefined if it is not whole. */
type ToBody = (events: readonly Fields[]) => Fields | undefined;

function handlers(baseURL: string, service: HttpResponseResolver, bodyOf: ToBody) {
  const uploads: Line[][] = [];
  const results: object[][] = [];
  return [
    http.post(`${baseURL}/files`, async ({ request }) => {
      const file = (await request.formData()).get('file') as File;
      const lines = (await file.text()).trim().split('\n');
      return HttpResponse.json({ id: `file-in-${uploads.push(lines.map((line) => JSON.parse(line))) - 1}` });
    }),
    http.post(`${baseURL}/batches`, async (call) => {
      const lines: object[] = [];
      for (const { custom_id, url: path, body } of uploads.at(-1) ?? []) {
        const isChat = path.includes('chat');
        const options = isChat ? { stream_options: { include_usage: true } } : {};
        const url = call.request.url.replace(/\/batches$/, path.replace('/v1', ''));
        const headers = { ...Object.fromEntries(call.request.headers), 'content-type': 'application/json' };
        const streamed = JSON.stringify({ ...body, stream: true, ...options });
        const request = new Request(url, { method: 'POST', headers, body: streamed });
        const response = await service({ ...call, request });
        if (!(response instanceof Response) || response.type === 'error') return HttpResponse.error();
        // Like the service, the mock refuses a batch as it refuses a request.
        if (!response.ok) return response;
        const whole = bodyOf(await payloadsOf(response));
        if (whole === undefined) return HttpResponse.error();
        lines.push({ custom_id, response: { status_code: statusOf(whole), body: whole }, error: null });
      }
      return HttpResponse.json({ id: `batch_${results.push(lines) - 1}`, status: 'validating' });
    }),
    http.get(`${baseURL}/batches/:id`, ({ params }) => {
      const index = String(params['id']).slice(6);
      const files = { input_file_id: `file-in-${index}`, output_file_id: `file-out-${index}` };
      return HttpResponse.json({ status: 'completed', ...files });
    }),
    http.get(`${baseURL}/files/:id/content`, ({ params }) => {
      const lines = results[Number(String(params['id']).slice(9))] ?? [];
      return HttpResponse.text(lines.map((line) => JSON.stringify(line)).join('\n'));
    }),
    http.delete(`${baseURL}/files/:id`, () => HttpResponse.json({ deleted: true })),
    http.post(`${baseURL}/batches/:id/cancel`, () => HttpResponse.json({})),
  ];
}

/** Returns the status that the service has for an error; 200 for a response. */
function statusOf({ error }: Fields): number {
  if (error === undefined || error === null) return 200;
  const text = JSON.stringify(error);
  if (/rate_limit/.test(text)) return 429;
  if (/overloaded|slow_down/.test(text)) return 503;
  return /invalid/.test(text) ? 400 : 500;
}

/** Returns the response in the last event of the Responses API. */
function responseOf(events: readonly Fields[]): Fields | undefined {
  for (const event of events) {
    const type = String(event?.['type']);
    if (type === 'error') return { error: event['error'] ?? event };
    if (/^response\.(completed|incomplete|failed)$/.test(type)) return event['response'] as Fields;
  }
  return undefined;
}

interface Choice {
  readonly index: number;
  readonly delta?: Fields & { readonly tool_calls?: readonly CallDelta[] };
  readonly finish_reason?: string | null;
}

interface CallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** Returns the chunks of Chat Completions as one completion, as the service's own client does. */
function completionOf(chunks: readonly Fields[]): Fields | undefined {
  let finish: string | undefined;
  let usage: unknown;
  const texts: Record<string, string> = {};
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
  for (const chunk of chunks) {
    if (chunk?.['error'] !== undefined && finish !== undefined) break;
    if (chunk?.['error'] !== undefined) return { error: chunk['error'] };
    usage = chunk?.['usage'] ?? usage;
    for (const { delta, finish_reason } of (chunk?.['choices'] ?? []) as readonly Choice[]) {
      finish = finish_reason || finish;
      for (const name of ['content', 'reasoning_content', 'refusal'] as const)
        if (typeof delta?.[name] === 'string') texts[name] = `${texts[name] ?? ''}${delta[name]}`;
      for (const { index, id, function: called } of delta?.tool_calls ?? []) {
        calls[index] ??= {
          id: id ?? '',
          type: 'function',
          function: { name: called?.name ?? '', arguments: '' },
        };
        calls[index].function.arguments += called?.arguments ?? '';
      }
    }
  }
  if (finish === undefined) return undefined;
  const message = {
    role: 'assistant',
    content: null,
    ...texts,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const { id, created, model } = chunks.find((chunk) => chunk?.['model'] !== undefined) ?? {};
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return { id, object: 'chat.completion', created, model, choices, usage };
}
