import type { AssistantPart, RunEvent } from '@cobbler/agent';
import { Executor, memoryStore } from '@cobbler/agent';
import { serveLoopback } from '@cobbler/agent/testing';
import type { ResponseFunctionWebSearch, ResponseOutputText } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import { createOpenAI, openAIPricing } from '../src/index.ts';
import { refuse } from '../src/testing/responses/rules.ts';

function search(id: string, action: ResponseFunctionWebSearch['action'], status = 'completed') {
  return { type: 'web_search_call', id, status, action } as ResponseFunctionWebSearch;
}

function message(text: string, ...urls: string[]) {
  const annotations: ResponseOutputText['annotations'] = urls.map((url) => ({
    ...{ type: 'url_citation', url, title: `Title of ${url}`, start_index: 0, end_index: 5 },
  }));
  const content = [{ type: 'output_text', text, annotations, logprobs: [] }];
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
}

/** Streams items as the service does, with the progress of searches and each citation as events of their own. */
function answer(items: readonly object[], more: object = {}): string {
  const events: object[] = [{ type: 'response.created', response: { model: 'gpt-6.1-sol' } }];
  for (const [output_index, item] of items.entries()) {
    const { type, id, content } = item as { type: string; id: string; content?: ResponseOutputText[] };
    const about = { output_index, item_id: id };
    const started = type === 'message' ? { ...item, content: [] } : { type, id, status: 'in_progress' };
    events.push({ type: 'response.output_item.added', output_index, item: started });
    if (type === 'web_search_call')
      for (const phase of ['in_progress', 'searching', 'completed'])
        events.push({ type: `response.web_search_call.${phase}`, ...about });
    for (const [content_index, part] of (content ?? []).entries()) {
      events.push({ type: 'response.output_text.delta', ...about, content_index, delta: part.text });
      for (const [annotation_index, annotation] of part.annotations.entries())
        events.push({
          type: 'response.output_text.annotation.added',
          ...about,
          annotation_index,
          annotation,
        });
      events.push({ type: 'response.output_text.done', ...about, content_index, text: part.text });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  const usage = { input_tokens: 10, output_tokens: 5 };
  const response = { model: 'gpt-6.1-sol', status: 'completed', output: items, usage, ...more };
  events.push({ type: 'response.completed', response });
  return events
    .map((event, number) => `data: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`)
    .join('');
}

test('a search is shown with its sources, counted, and sent back', async () => {
  const items = [
    search('ws_1', { type: 'search', query: 'rain', queries: ['rain Bonn', 'rain Köln'] }),
    search('ws_2', { type: 'open_page', url: 'https://a.example/' }),
    search('ws_3', { type: 'search', query: 'snow' }, 'failed'),
    message('It rains.', 'https://a.example/', 'https://b.example/'),
  ];
  const billed = { tool_usage: { web_search: { num_requests: 1 } } };
  const answers = [answer(items, billed), answer([message('Yes.')])];
  const bodies: { input: object[] }[] = [];
  const { url, close } = await serveLoopback(async (request) => {
    bodies.push((await request.json()) as { input: object[] });
    expect(refuse(bodies.at(-1))).toBeUndefined();
    return new Response(answers[bodies.length - 1], { headers: { 'content-type': 'text/event-stream' } });
  });
  const options = { apiKey: 'sk-test', baseURL: url, model: 'gpt-6.1-sol', api: 'responses' } as const;
  const agent = createOpenAI({ ...options, search: true });
  const executor = new Executor({ agent, store: memoryStore(), pricing: openAIPricing });
  const events: RunEvent[] = [];
  const result = await executor.run('Rain?', { sessionId: 's', onEvent: (event) => void events.push(event) });
  expect(result).toMatchObject({ status: 'complete', text: 'It rains.' });
  expect(bodies[0]).toMatchObject({ tools: [{ type: 'web_search' }], max_tool_calls: 10 });
  const event = events.find(({ type }) => type === 'assistant');
  if (event?.type !== 'assistant') throw new Error('There is no response.');
  const shown = (part: AssistantPart) => {
    if (part.type !== 'opaque') return part.type === 'text' ? part.text : part.type;
    const { type: _, seal: __, ...rest } = part;
    return rest;
  };
  const sources = ['https://a.example/', 'https://b.example/'].map((url) => ({
    url,
    title: `Title of ${url}`,
  }));
  expect(event.content.map(shown)).toEqual([
    { searched: 'rain Bonn, rain Köln' },
    { searched: 'https://a.example/' },
    { searched: 'snow', problem: 'failed' },
    'It rains.',
    { sources },
  ]);
  expect(event.usage.searches).toBe(1);
  expect(event.usd).toBeCloseTo((10 * 2 + 5 * 10) / 1e6 + 0.01);
  await executor.run('Really?', { sessionId: 's' });
  expect(bodies[1]?.input.slice(1, -1)).toEqual([
    ...items.slice(0, 3),
    { type: 'message', role: 'assistant', content: 'It rains.' },
  ]);
  await close();
});

test('without a count of the service, the searches in the output are counted', async () => {
  const items = [search('ws_1', { type: 'search', query: 'rain' }), message('It rains.')];
  const { url, close } = await serveLoopback(
    () => new Response(answer(items), { headers: { 'content-type': 'text/event-stream' } }),
  );
  const agent = createOpenAI({ apiKey: 'k', baseURL: url, api: 'responses', search: true });
  const prompt = { role: 'user', content: [{ type: 'text', text: 'Rain?' }] } as const;
  expect((await agent.run({ messages: [prompt], tools: [] })).usage.searches).toBe(1);
  await close();
});

test('Chat Completions rejects the option', () => {
  const create = () => createOpenAI({ baseURL: 'http://localhost:1/v1', search: true });
  expect(create).toThrow(expect.objectContaining({ code: 'unsupported' }));
  expect(createOpenAI({ baseURL: 'http://localhost:1/v1', search: false }).provider).toBe('openai');
});
