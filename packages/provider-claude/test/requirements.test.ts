import type { AgentEvent, Message, Tool } from '@cobbler/agent';
import { AgentError, userMessage } from '@cobbler/agent';
import type { Loopback, MockReply, Step } from '@cobbler/agent/testing';
import {
  answersStatus,
  callBlock,
  LiveStream,
  replies,
  scriptResponse,
  serveLoopback,
  wireServer,
} from '@cobbler/agent/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

const tool: Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: () => '',
};

const open: Loopback[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

/** Returns an agent with a service that plays this script; the back-off is at most 1 ms. */
async function stage(...script: readonly MockReply[]) {
  const server = wireServer(claudeTesting, script);
  const service = await serveLoopback(server.handler);
  open.push(service);
  const agent = createClaude({
    apiKey: 'sk-ant-test-0123456789',
    env: {},
    baseURL: service.url,
    retry: { baseMs: 1, maxMs: 1 },
  });
  return { server, agent };
}

test('converts a request to Anthropic messages, and a response to content, calls and usage [S0.18]', async () => {
  const usage = { inputTokens: 50, outputTokens: 9, cacheReadTokens: 30, cacheWriteTokens: 0 };
  const { server, agent } = await stage(
    replies(scriptResponse(['Let me see.', callBlock('toolu_1', 'look_up', { word: 'last' })], { usage })),
    replies(scriptResponse(['A foot’s form.'])),
  );
  const first = await agent.run({ messages: [userMessage('What is a last?')], tools: [tool] });
  expect(first).toMatchObject({
    content: 'Let me see.',
    toolCalls: [{ id: 'toolu_1', toolName: 'look_up', arguments: { word: 'last' } }],
    stopReason: 'tool_use',
    usage,
  });
  const messages: Message[] = [
    userMessage('What is a last?'),
    first.message,
    { role: 'tool_result', toolCallId: 'toolu_1', content: [{ type: 'text', text: 'a form' }] },
  ];
  await agent.run({ messages, tools: [tool] });
  const mark = { cache_control: { type: 'ephemeral' } };
  expect(JSON.parse(server.exchanges[1]?.text ?? '')).toMatchObject({
    tools: [{ name: 'look_up', description: 'Looks a word up.', input_schema: tool.parameters, ...mark }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'What is a last?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: { word: 'last' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', ...mark }] },
    ],
  });
});

test('streams the response and also returns it complete [S0.19]', async () => {
  const { agent } = await stage(replies(scriptResponse(['One two three.'])));
  const events: AgentEvent[] = [];
  const response = await agent.run(
    { messages: [userMessage('Count.')], tools: [] },
    { emit: (event) => events.push(event) },
  );
  expect(events.filter(({ type }) => type === 'text_delta').length).toBeGreaterThan(1);
  expect(events.at(-1)).toEqual({ type: 'text', index: 0, text: 'One two three.' });
  expect(response.content).toBe('One two three.');
});

describe('a failed request [S0.20]', () => {
  test.each([429, 500, 503, 529])('is retried after status %i', async (status) => {
    const { agent } = await stage(answersStatus(status), replies(scriptResponse(['Fine.'])));
    expect(await agent.run({ messages: [userMessage('Hello.')], tools: [] })).toMatchObject({
      content: 'Fine.',
      attempts: 2,
    });
  });

  test('is not retried after an abort during the back-off', async () => {
    const { agent, server } = await stage(answersStatus(500, { 'retry-after': '30' }));
    const abort = new AbortController();
    const run = agent.run(
      { messages: [userMessage('Hello.')], tools: [] },
      { signal: abort.signal, emit: (event) => event.type === 'retry' && abort.abort() },
    );
    await expect(run).rejects.toSatisfy((error) => AgentError.is(error) && error.kind === 'aborted');
    expect(server.exchanges).toHaveLength(1);
  });
});

describe('the abort signal [S0.22]', () => {
  test('prevents the request if it is already aborted', async () => {
    const { agent, server } = await stage();
    const run = agent.run({ messages: [userMessage('Hello.')], tools: [] }, { signal: AbortSignal.abort() });
    await expect(run).rejects.toMatchObject({ kind: 'aborted' });
    expect(server.exchanges).toHaveLength(0);
  });

  test('ends a response in progress and closes its connection', async () => {
    const stream = new LiveStream();
    const { agent } = await stage({ type: 'live', stream });
    const abort = new AbortController();
    const answer = scriptResponse(['One two three.']);
    const run = agent.run(
      { messages: [userMessage('Hello.')], tools: [] },
      { signal: abort.signal, emit: (event) => event.type === 'text_delta' && abort.abort() },
    );
    const steps: Step[] = [
      { type: 'open', at: 0 },
      { type: 'delta', at: 0, text: 'One ' },
    ];
    const payloads = [
      ...claudeTesting.begin(answer),
      ...steps.flatMap((step) => claudeTesting.line(step, answer)),
    ];
    for (const payload of payloads) stream.send(claudeTesting.frame(payload));
    await expect(run).rejects.toMatchObject({ kind: 'aborted' });
    await stream.left;
  });
});
