import type {
  CitationsWebSearchResultLocation,
  RawMessageStreamEvent,
  ServerToolUseBlock,
  WebSearchToolResultBlock,
} from '@anthropic-ai/sdk/resources/messages';
import type { AssistantPart, Gate, RunEvent, Tool } from '@cobbler/agent';
import { defineTool, Executor, memoryStore, userMessage } from '@cobbler/agent';
import { normalizeHistory } from '@cobbler/agent/provider';
import { serveLoopback } from '@cobbler/agent/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { claudePricing, createClaude } from '../src/index.ts';
import { refuse } from '../src/testing/rules.ts';
import { begin, frame } from '../src/testing/stream.ts';

const direct = { type: 'direct' } as const;

function search(id: string, query: string): ServerToolUseBlock {
  return { type: 'server_tool_use', id, name: 'web_search', caller: direct, input: { query } };
}

function found(id: string, ...pages: string[]): WebSearchToolResultBlock {
  const content = pages.map((url) => ({
    ...{ type: 'web_search_result' as const, url, title: `Title of ${url}` },
    ...{ encrypted_content: `sealed ${url}`, page_age: null },
  }));
  return { type: 'web_search_tool_result', tool_use_id: id, caller: direct, content };
}

function cite(url: string, title: string | null = `Title of ${url}`): CitationsWebSearchResultLocation {
  return {
    type: 'web_search_result_location',
    url,
    title,
    encrypted_index: `at ${url}`,
    cited_text: 'It rains.',
  };
}

type Piece = ServerToolUseBlock | WebSearchToolResultBlock | { text: string; citations?: readonly object[] };

/** Streams blocks as the service does: the query and the text in two deltas each, citations between those of the text. */
function blocksOf(pieces: readonly Piece[]): unknown[] {
  return pieces.flatMap((piece, index) => {
    const at = (delta: object) => ({ type: 'content_block_delta', index, delta });
    const around = (content_block: object, ...deltas: object[]) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map(at),
      { type: 'content_block_stop', index },
    ];
    if ('text' in piece) {
      const half = Math.ceil(piece.text.length / 2);
      const texts = [piece.text.slice(0, half), piece.text.slice(half)];
      const [first, last] = texts.map((text) => ({ type: 'text_delta', text }));
      const cited = (piece.citations ?? []).map((citation) => ({ type: 'citations_delta', citation }));
      return around({ type: 'text', text: '', citations: [] }, first ?? {}, ...cited, last ?? {});
    }
    if (piece.type === 'web_search_tool_result') return around(piece);
    const json = JSON.stringify(piece.input);
    const halves = [json.slice(0, 9), json.slice(9)];
    const deltas = halves.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    return around({ ...piece, input: {} }, { type: 'input_json_delta', partial_json: '' }, ...deltas);
  });
}

function answer(pieces: readonly Piece[], stop: string, searches = 0): string {
  const head: unknown[] = begin({
    ...{ model: 'claude-sonnet-5-5', blocks: [], stop: 'complete' },
    usage: { inputTokens: 10, outputTokens: 0 },
  } as unknown as Parameters<typeof begin>[0]) satisfies RawMessageStreamEvent[];
  const usage = {
    output_tokens: 5,
    server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 },
  };
  const tail = [
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return [...head, ...blocksOf(pieces), ...tail].map(frame).join('');
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An agent of a service that sends these responses and rejects what the real one rejects. */
async function serving(...answers: string[]) {
  const bodies: { tools?: unknown; messages: { role: string; content: object[] }[] }[] = [];
  const { url, close } = await serveLoopback(async (request) => {
    const body = (await request.json()) as (typeof bodies)[number];
    bodies.push(body);
    const refused = refuse(body);
    if (refused !== undefined) return Response.json(refused, { status: 400 });
    return new Response(answers[bodies.length - 1], { headers: { 'content-type': 'text/event-stream' } });
  });
  closers.push(close);
  const agent = createClaude({ apiKey: 'sk-test', baseURL: url, model: 'balanced', search: true });
  return { agent, bodies };
}

const rain = [
  { text: 'I will search.' },
  search('srvtoolu_1', 'weather Bonn'),
  found('srvtoolu_1', 'https://a.example/', 'https://b.example/'),
  search('srvtoolu_2', 'weather Köln'),
  found('srvtoolu_2', 'https://c.example/'),
  { text: 'It rains in Bonn', citations: [cite('https://a.example/'), cite('https://b.example/', null)] },
  { text: ' and in Köln.', citations: [cite('https://c.example/')] },
] as const;

const shown = (parts: readonly AssistantPart[]) =>
  parts.map((part) => {
    if (part.type !== 'opaque') return part.type === 'text' ? part.text : part.type;
    const { type: _, seal: __, ...rest } = part;
    return rest;
  });

describe('a search', () => {
  test('is shown with its sources, counted, and sent back unchanged', async () => {
    const { agent, bodies } = await serving(
      answer(rain, 'end_turn', 2),
      answer([{ text: 'Yes.' }], 'end_turn'),
    );
    const store = memoryStore();
    const events: RunEvent[] = [];
    const onEvent = (event: RunEvent) => void events.push(event);
    const executor = new Executor({ agent, store, pricing: claudePricing });
    const first = await executor.run('Where does it rain?', { sessionId: 's', onEvent });
    expect(first).toMatchObject({ status: 'complete', text: 'I will search.It rains in Bonn and in Köln.' });
    expect(bodies[0]?.tools).toEqual([
      { type: 'web_search_20250305', name: 'web_search', max_uses: 10, cache_control: { type: 'ephemeral' } },
    ]);
    const event = events.find(({ type }) => type === 'assistant');
    if (event?.type !== 'assistant') throw new Error('There is no response.');
    expect(shown(event.content)).toEqual([
      'I will search.',
      { searched: 'weather Bonn' },
      {},
      { searched: 'weather Köln' },
      {},
      'It rains in Bonn',
      { sources: [{ url: 'https://a.example/', title: 'Title of https://a.example/' }] },
      { sources: [{ url: 'https://b.example/' }] },
      ' and in Köln.',
      { sources: [{ url: 'https://c.example/', title: 'Title of https://c.example/' }] },
    ]);
    expect(event.usage.searches).toBe(2);
    expect(event.usd).toBeCloseTo((10 * 2 + 5 * 10) / 1e6 + 0.02);
    await executor.run('Really?', { sessionId: 's' });
    const sent = rain.map((piece) => ('text' in piece ? { type: 'text', ...piece } : piece));
    expect(bodies[1]?.messages[1]?.content).toEqual(sent);
  });

  test('that fails is shown with the reason', async () => {
    const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' } as const;
    const failed = { ...found('srvtoolu_1'), content: error };
    const { agent, bodies } = await serving(
      answer([search('srvtoolu_1', 'news'), failed, { text: 'I could not search.' }], 'end_turn'),
      answer([{ text: 'No.' }], 'end_turn'),
    );
    const executor = new Executor({ agent, store: memoryStore() });
    const { messages } = await executor.run('What is new?', { sessionId: 's' });
    expect(shown(messages[1]?.content as AssistantPart[])).toEqual([
      { searched: 'news' },
      { problem: 'max_uses_exceeded' },
      'I could not search.',
    ]);
    await executor.run('Again?', { sessionId: 's' });
    expect(bodies[1]?.messages[1]?.content).toContainEqual(failed);
  });

  test('that was paused is continued, and its results belong to the same turn', async () => {
    const { agent, bodies } = await serving(
      answer([{ text: 'Wait.' }, search('srvtoolu_1', 'news')], 'pause_turn'),
      answer([found('srvtoolu_1', 'https://a.example/'), { text: 'It rains.' }], 'end_turn', 1),
      answer([{ text: 'Yes.' }], 'end_turn'),
    );
    const store = memoryStore();
    const executor = new Executor({ agent, store });
    expect(await executor.run('What is new?', { sessionId: 's' })).toMatchObject({ status: 'complete' });
    expect(bodies[1]?.messages.at(-1)?.content.at(-1)).toEqual(search('srvtoolu_1', 'news'));
    expect(await executor.run('Really?', { sessionId: 's' })).toMatchObject({
      status: 'complete',
      text: 'Yes.',
    });
    expect(bodies[2]?.messages[1]?.content).toHaveLength(4);
  });

  test('that was paused and not continued is not sent again, because the service rejects it', async () => {
    const { agent, bodies } = await serving(
      answer([{ text: 'Wait.' }, search('srvtoolu_1', 'news')], 'pause_turn'),
      answer([search('srvtoolu_2', 'more news')], 'pause_turn'),
      answer([{ text: 'Yes.' }], 'end_turn'),
    );
    const store = memoryStore();
    const executor = new Executor({ agent, store, limits: { turns: 2 } });
    expect(await executor.run('What is new?', { sessionId: 's' })).not.toMatchObject({ status: 'complete' });
    expect(await executor.run('Really?', { sessionId: 's' })).toMatchObject({
      status: 'complete',
      text: 'Yes.',
    });
    expect(bodies.at(-1)?.messages[1]?.content).toEqual([{ type: 'text', text: 'Wait.' }]);
  });

  test('that was continued in vain is not sent again after a new message', async () => {
    const paused = answer([{ text: 'Wait.' }, search('srvtoolu_1', 'news')], 'pause_turn');
    const { agent, bodies } = await serving(paused, paused, answer([{ text: 'Yes.' }], 'end_turn'));
    const messages = [userMessage('What is new?')];
    const { message } = await agent.run({ messages, tools: [] });
    const open = [...messages, message];
    await agent.run({ messages: open, tools: [] });
    await agent.run({ messages: [...open, userMessage('Really?')], tools: [] });
    expect(bodies.map((body) => body.messages[1]?.content.length)).toEqual([undefined, 2, 1]);
  });

  test('whose query was cut off is not shown', async () => {
    const text = answer([{ text: 'Wait.' }, search('srvtoolu_1', 'news')], 'max_tokens');
    const cut = text.replace(/event: content_block_delta\ndata: [^\n]*news[^\n]*\n\n/, '');
    const { agent } = await serving(cut);
    const { messages } = await new Executor({ agent, limits: { turns: 1 } }).run('What is new?');
    expect(shown(messages[1]?.content as AssistantPart[])).toEqual(['Wait.', {}]);
  });

  test('is only text for another provider', async () => {
    const { agent } = await serving(answer(rain, 'end_turn'));
    const { messages } = await new Executor({ agent }).run('Where does it rain?');
    const [, turn] = normalizeHistory(messages, { provider: 'openai', files: [] });
    expect(turn?.parts.map(({ type }) => type)).toEqual(['text', 'text', 'text']);
  });

  test('makes calls that send data ask, also those in the same response', async () => {
    const [before, ...after] = blocksOf([
      search('srvtoolu_1', 'news'),
      found('srvtoolu_1', 'https://a.example/'),
    ]);
    const call = { type: 'tool_use', id: 'toolu_1', name: 'post', input: { text: 'secret' } };
    const calling = [
      { type: 'content_block_start', index: 2, content_block: call },
      { type: 'content_block_stop', index: 2 },
    ];
    const frames = [before, ...after, ...calling].map(frame).join('');
    const body = answer([], 'tool_use', 1).replace('event: message_delta', `${frames}event: message_delta`);
    const { agent } = await serving(body);
    const sent: unknown[] = [];
    const post: Tool = defineTool({
      ...{ name: 'post', description: 'Posts a text.', parameters: { type: 'object' }, sends: true },
      execute: (given) => void sent.push(given),
    });
    const reasons: unknown[] = [];
    const gate: Gate = ({ mustAsk, untrusted }) => {
      reasons.push(mustAsk?.slice(0, 21), untrusted);
      return 'deny';
    };
    await new Executor({ agent, tools: [post], gate, limits: { turns: 1 } }).run('Post the news.');
    expect([reasons, sent]).toEqual([['It can send data, and', 'web_search'], []]);
  });
});
