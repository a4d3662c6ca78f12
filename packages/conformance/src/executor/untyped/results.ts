import type { Agent, ModelResponse, Store, ToolOutput } from '@cobbler/agent';
import { memoryStore, toolOutput } from '@cobbler/agent';
import type { Compaction } from '@cobbler/agent/context';
import { memoryBlobs, offload } from '@cobbler/agent/context';
import type { RunFixture } from '@cobbler/agent/testing';
import { calls, modelResponse, scriptedModel, textResponse } from '@cobbler/agent/testing';
import type { Place } from './place.ts';
import { place, runPrompt, toolWith, untyped } from './place.ts';

function refused(value: unknown): () => never {
  return () => {
    throw value;
  };
}

/** Options with a function of the caller that returns the value. */
const functions: Readonly<Record<string, (value: unknown) => object>> = {
  'a gate': (value) => ({ gate: () => value }),
  'a gate: arguments': (value) => ({ gate: () => ({ type: 'allow', arguments: value }) }),
  'a gate: arguments.list': (list) => ({ gate: () => ({ type: 'allow', arguments: { list } }) }),
  'a gate: message': (message) => ({ gate: () => ({ type: 'deny', message }) }),
  'a gate that throws': (value) => ({ gate: refused(value) }),
  pricing: (value) => ({ pricing: () => value }),
  'pricing: input': (input) => ({ pricing: () => ({ input, output: 1 }), limits: { usd: 10 } }),
  'pricing: output': (output) => ({ pricing: () => ({ input: 1, output }), limits: { usd: 10 } }),
  'pricing: cacheRead': (cacheRead) => ({ pricing: () => ({ input: 1, output: 1, cacheRead }) }),
  'pricing that throws': (value) => ({ pricing: refused(value) }),
  'a tool': (value) => tool({ execute: () => value }),
  'a tool that throws': (value) => tool({ execute: refused(value) }),
  'a tool that rejects': (value) => tool({ execute: () => Promise.reject(value) }),
  'a tool: content': (content) => output({ content }),
  'a tool: content[0]': (part) => output({ content: [part] }),
  'a tool: content[0].text': (text) => output({ content: [{ type: 'text', text }] }),
  'a tool: content[0].type': (type) => output({ content: [{ type, text: 'x' }] }),
  'a tool: content[0].data': (data) => output({ content: [{ type: 'file', mediaType: 'image/png', data }] }),
  'a tool: content[0].mediaType': (mediaType) =>
    output({ content: [{ type: 'file', mediaType, data: 'AA==' }] }),
  'a tool: isError': (isError) => output({ content: 'x', isError }),
  'a tool: summary': (summary) => output({ content: 'x', summary }),
  'a tool: diff': (diff) => output({ content: 'x', diff }),
  'a tool: progress': (text) =>
    tool({ execute: (_: unknown, context: { progress: (text: unknown) => void }) => context.progress(text) }),
  subject: (value) => tool({ subject: () => value }),
  'subject that throws': (value) => tool({ subject: refused(value) }),
  waitUntil: (value) => tool({ waitUntil: () => value, effect: 'read' }),
  'waitUntil that throws': (value) => tool({ waitUntil: refused(value), effect: 'read' }),
  mustAsk: (value) => ({ ...tool({ mustAsk: () => value }), gate: () => 'ask' }),
  'mustAsk that throws': (value) => tool({ mustAsk: refused(value) }),
  preview: (value) => ({ ...tool({ preview: () => value }), gate: () => 'ask' }),
  'preview: summary': (summary) => ({ ...tool({ preview: () => ({ summary }) }), gate: () => 'ask' }),
  'preview: diff': (diff) => ({ ...tool({ preview: () => ({ diff }) }), gate: () => 'ask' }),
  'preview: changes': (changes) => ({ ...tool({ preview: () => ({ changes }) }), gate: () => 'ask' }),
  'preview: changes[0]': (change) => ({
    ...tool({ preview: () => ({ changes: [change] }) }),
    gate: () => 'ask',
  }),
  'preview that throws': (value) => ({ ...tool({ preview: refused(value) }), gate: () => 'ask' }),
  validate: (value) => tool({ validate: () => value }),
  'validate: value': (value) => tool({ validate: () => ({ ok: true, value }) }),
  'validate: problem': (problem) => tool({ validate: () => ({ ok: false, problem }) }),
  'validate that throws': (value) => tool({ validate: refused(value) }),
  compact: (value) => compacting(() => untyped(value)),
  'compact: upTo': (upTo) => compacting(() => untyped({ upTo, summary: 'Short.' })),
  'compact: summary': (summary) => compacting(() => untyped({ upTo: 1, summary })),
  'compact that throws': (value) => compacting(refused(value)),
  'compact: request': (request) => compacting((_, { ask }) => untyped(ask(untyped(request)))),
  'offload: put': (value) => offloading({ put: () => value }),
  'offload: blob': (blob) => offloading({ put: () => Promise.resolve({ excerpt: 'x', blob }) }),
  'offload: excerpt': (excerpt) =>
    offloading({ put: async () => ({ excerpt, blob: { id: 'a', bytes: 1 } }) }),
  'offload that throws': (value) => offloading({ put: refused(value) }),
  'a listener that throws': (value) => ({ onEvent: refused(value) }),
};

function tool(fields: object): object {
  return { tools: [toolWith(fields)] };
}

function output(value: object): object {
  return tool({ execute: () => toolOutput(untyped<ToolOutput>(value)) });
}

function compacting(compact: Compaction): object {
  return { context: { compact, maxTokens: 1 } };
}

function offloading(fields: object): object {
  const offloaded = { ...offload(memoryBlobs(), { overBytes: 10 }), ...fields };
  return { ...tool({ execute: () => 'long '.repeat(100) }), context: { offload: offloaded } };
}

/** The fields of a response, by their path. */
const responses: Readonly<Record<string, (value: unknown) => object>> = {
  content: (content) => ({ content }),
  toolCalls: (toolCalls) => ({ toolCalls }),
  message: (message) => ({ message }),
  'message.content': (content) => ({ message: { role: 'assistant', content } }),
  'message.content[0]': (part) => ({ message: { role: 'assistant', content: [part] } }),
  'message.content[0].type': (type) => responseWith({ type, text: 'x' }),
  'message.content[0].text': (text) => responseWith({ type: 'text', text }),
  'message.content[0].seal': (seal) => responseWith({ type: 'reasoning', text: 'x', seal }),
  'message.content[0].seal.data': (data) =>
    responseWith({ type: 'opaque', seal: { provider: 'puppet', data } }),
  'message.content[0].id': (id) => responseWithCall({ id }),
  'message.content[0].toolName': (toolName) => responseWithCall({ toolName }),
  'message.content[0].arguments': (args) => responseWithCall({ arguments: args }),
  'message.content[0].arguments.list': (list) => responseWithCall({ arguments: { list } }),
  'message.content[0].problem': (problem) => responseWithCall({ problem }),
  usage: (usage) => ({ usage }),
  'usage.inputTokens': (inputTokens) => ({ usage: { inputTokens, outputTokens: 1 } }),
  'usage.outputTokens': (outputTokens) => ({ usage: { inputTokens: 1, outputTokens } }),
  'usage.cacheReadTokens': (cacheReadTokens) => ({
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens },
  }),
  'usage.estimated': (estimated) => ({ usage: { inputTokens: 1, outputTokens: 1, estimated } }),
  stopReason: (stopReason) => ({ stopReason }),
  model: (model) => ({ model }),
  attempts: (attempts) => ({ attempts }),
  wasted: (wasted) => ({ wasted }),
  requestId: (requestId) => ({ requestId }),
  rateLimits: (rateLimits) => ({ rateLimits }),
};

function responseWith(part: object): object {
  return { message: { role: 'assistant', content: [part] } };
}

function responseWithCall(fields: object): object {
  const part = { type: 'tool_call', id: 'a', toolName: 'one', arguments: {}, ...fields };
  return { ...responseWith(part), stopReason: 'tool_use' };
}

function responding(respond: (context: { emit?: (event: unknown) => void }) => unknown): object {
  let requests = 0;
  const run: Agent['run'] = (_, context = {}) => {
    requests += 1;
    return untyped(requests === 1 ? respond(untyped(context)) : Promise.resolve(textResponse('Done.')));
  };
  return { agent: { ...scriptedModel([]), run } };
}

const response: ModelResponse = modelResponse([{ type: 'text', text: 'Hi.' }]);

/** Runs two prompts in a store of which one method returns or throws something else. */
async function withStore(setup: RunFixture, fields: (store: Store) => Partial<Store>): Promise<unknown> {
  const healthy = memoryStore();
  await runPrompt(setup, { store: healthy }, 'Go.', { sessionId: 'here' });
  const store = { ...healthy, ...fields(healthy) };
  return runPrompt(setup, { store }, 'And?', { sessionId: 'here' });
}

const storeMethods = ['claim', 'append', 'read', 'snapshot', 'keepSnapshot'] as const;

/** The results of the caller's gates, tools, agents, context policies and stores, and what these throw. */
export const resultPlaces: readonly Place[] = [
  ...Object.entries(functions).map(([name, options]) =>
    place(`result of ${name}`, (setup, value) => runPrompt(setup, options(value)), ''),
  ),
  place(
    'result of an agent',
    (setup, value) =>
      runPrompt(
        setup,
        responding(() => value),
      ),
    'response',
    '',
  ),
  place('result of an agent that throws', (setup, value) => runPrompt(setup, responding(refused(value))), ''),
  place(
    'result of an agent that rejects',
    (setup, value) =>
      runPrompt(
        setup,
        responding(() => Promise.reject(value)),
      ),
    '',
  ),
  place('event of an agent', (setup, value) => {
    const options = responding(({ emit }) => {
      emit?.(value);
      return response;
    });
    return runPrompt(setup, options);
  }),
  ...Object.entries(responses).map(([path, fields]) =>
    place(
      `result of an agent: ${path}`,
      (setup, value) =>
        runPrompt(
          setup,
          responding(() => ({ ...response, ...fields(value) })),
        ),
      path === 'stopReason' ? 'stopped' : `response.${path.replace(/\[.*$/, '')}`,
    ),
  ),
  ...storeMethods.map((method) =>
    place(
      `result of a store: ${method}`,
      (setup, value) => withStore(setup, () => ({ [method]: () => value })),
      method,
      'store',
    ),
  ),
  ...storeMethods
    .slice(0, 4)
    .map((method) =>
      place(
        `result of a store: ${method} throws`,
        (setup, value) => withStore(setup, () => ({ [method]: refused(value) })),
        '',
      ),
    ),
  place(
    'result of a store: read[0]',
    (setup, value) => withStore(setup, () => ({ read: () => untyped([value]) })),
    'store',
  ),
  place(
    'result of a store: snapshot of another version',
    (setup, value) =>
      withStore(setup, () => ({ snapshot: () => untyped({ seq: 1, messages: value, calls: value }) })),
    'store',
  ),
  place(
    'result of validate after a call',
    (setup, value) =>
      runPrompt(setup, {
        agent: scriptedModel([calls(['one', 'one']), calls(['one']), textResponse('Done.')]),
        tools: [toolWith({ validate: () => ({ ok: true, value }), execute: (args: unknown) => args })],
      }),
    '',
  ),
];
