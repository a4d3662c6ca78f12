import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/interfaces/agent.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { fakeRuntime, scriptedAgent } from '../../src/testing/index.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Message } from '../../src/values/message.ts';
import { callsOf, textOf, userMessage } from '../../src/values/message.ts';

const add: Tool = {
  name: 'add',
  description: 'Adds two numbers.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  execute: ({ a, b }) => Number(a) + Number(b),
};

const hello = { messages: [userMessage('Hello.')], tools: [add] };

async function errorOf(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!AgentError.is(error)) throw new Error(`Expected an AgentError, got ${String(error)}`);
  return error;
}

describe('a scripted agent', () => {
  it('returns a text with usage and stop reason [S0.6]', async () => {
    const response = await scriptedAgent(['Good day.']).run(hello);
    expect(response).toMatchObject({
      content: 'Good day.',
      toolCalls: [],
      stopReason: 'complete',
      attempts: 1,
    });
    expect(response.usage).toEqual({ inputTokens: 120, outputTokens: 30 });
    expect(textOf(response.message)).toBe('Good day.');
  });

  it('returns calls, with generated ids where the script has none [S0.7]', async () => {
    const calls = [
      { name: 'add', arguments: { a: 1, b: 2 } },
      { name: 'add', arguments: { a: 3, b: 4 } },
      { name: 'add', arguments: {}, id: 'mine' },
    ];
    const response = await scriptedAgent([{ text: 'I add.', calls }]).run(hello);
    expect(response.stopReason).toBe('tool_use');
    expect(response.toolCalls.map((call) => call.arguments)).toEqual([{ a: 1, b: 2 }, { a: 3, b: 4 }, {}]);
    expect(response.toolCalls.map(({ id }) => id)).toEqual(['call_0_0', 'call_0_1', 'mine']);
  });

  it('can respond to tool results', async () => {
    const agent = scriptedAgent([
      { calls: [{ name: 'add', arguments: { a: 2, b: 2 } }] },
      ({ messages }) => `The sum is ${textOf(messages.at(-1) ?? userMessage(''))}.`,
    ]);
    const first = await agent.run(hello);
    const [call] = callsOf(first.message);
    const result: Message = {
      role: 'tool_result',
      toolCallId: call?.id ?? '',
      content: [{ type: 'text', text: '4' }],
    };
    const second = await agent.run({ ...hello, messages: [...hello.messages, first.message, result] });
    expect(second.content).toBe('The sum is 4.');
  });

  it('keeps reasoning in the message, with its own provider metadata', async () => {
    const response = await scriptedAgent([{ reasoning: 'Hm.', text: 'Yes.' }], { provider: 'mine' }).run(
      hello,
    );
    expect(response.message.content[0]).toMatchObject({
      type: 'reasoning',
      text: 'Hm.',
      seal: { provider: 'mine' },
    });
  });

  it('returns the stop reason, usage and model of the script', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2 };
    const agent = scriptedAgent([{ text: 'Cut', stop: 'max_tokens', usage }], { model: 'small' });
    const response = await agent.run(hello);
    expect(response).toMatchObject({ stopReason: 'max_tokens', usage, model: 'small' });
  });

  it('fails with a clear error after the last step', async () => {
    const agent = scriptedAgent(['Only this.']);
    await agent.run(hello);
    const error = await errorOf(agent.run(hello));
    expect(error).toMatchObject({ kind: 'agent', code: 'script_over', retryable: false, attempts: 1 });
    expect(error.message).toContain('The script has 1 steps, but this is request 2.');
  });

  it('starts again after the last step with `repeat`', async () => {
    const agent = scriptedAgent(['One.', 'Two.'], { repeat: true });
    const said: string[] = [];
    for (let count = 0; count < 5; count += 1) said.push((await agent.run(hello)).content);
    expect(said).toEqual(['One.', 'Two.', 'One.', 'Two.', 'One.']);
  });

  it('fails with the error of the script, unchanged and immediately', async () => {
    const agent = scriptedAgent([
      { error: { kind: 'auth', code: 'expired', message: 'The key has expired.', status: 401 } },
      'x',
    ]);
    const error = await errorOf(agent.run(hello));
    expect(error).toMatchObject({
      kind: 'auth',
      code: 'expired',
      message: 'The key has expired.',
      status: 401,
    });
    expect(error).toMatchObject({ provider: 'scripted', attempts: 1, retryable: false });
  });

  it('can fail after part of a response', async () => {
    const events: AgentEvent[] = [];
    const agent = scriptedAgent([{ text: 'Half of', error: { kind: 'network', message: 'Gone.' } }]);
    const error = await errorOf(agent.run(hello, { emit: (event) => events.push(event) }));
    expect(error).toMatchObject({ kind: 'network', message: 'Gone.' });
    const said = events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('');
    expect(said).toBe('Half of');
  });

  it('retries with the next step after a retryable error [P5]', async () => {
    const runtime = fakeRuntime();
    const busy = { error: { kind: 'rate_limit', message: 'Slow down.', retryable: true } } as const;
    const delays: number[] = [];
    const emit = (event: AgentEvent) => {
      if (event.type !== 'retry') return;
      delays.push(event.delayMs);
      void Promise.resolve().then(() => runtime.advance(event.delayMs));
    };
    const response = await scriptedAgent([busy, busy, 'At last.'], { runtime }).run(hello, { emit });
    expect(response).toMatchObject({ content: 'At last.', attempts: 3 });
    expect(delays).toHaveLength(2);
  });

  it('returns the last retryable error as the script defines it', async () => {
    const error = { kind: 'rate_limit', code: 'quota', message: 'Used up.', retryable: true } as const;
    const failure = await errorOf(scriptedAgent([{ error }], { retry: { retries: 0 } }).run(hello));
    expect(failure).toMatchObject({
      kind: 'rate_limit',
      code: 'quota',
      message: 'Used up.',
      retryable: true,
    });
  });

  it('waits by the clock of its runtime', async () => {
    const runtime = fakeRuntime();
    let isOver = false;
    const asked = scriptedAgent([{ text: 'Late.', delayMs: 30_000 }], { runtime })
      .run(hello)
      .finally(() => {
        isOver = true;
      });
    while (runtime.timers < 2) await new Promise((resolve) => setImmediate(resolve));
    await runtime.advance(29_000);
    expect(isOver).toBe(false);
    await runtime.advance(1_000);
    expect((await asked).content).toBe('Late.');
  });

  it('can be cancelled while it waits [S0.22]', async () => {
    const controller = new AbortController();
    const asked = scriptedAgent([{ text: 'Late.', delayMs: 1_000_000 }]).run(hello, {
      signal: controller.signal,
    });
    controller.abort();
    expect(await errorOf(asked)).toMatchObject({ kind: 'aborted' });
  });

  it('records each request, unaffected by later changes to its messages', async () => {
    const agent = scriptedAgent(['One.', 'Two.']);
    const messages: Message[] = [userMessage('Hello.')];
    const { message } = await agent.run({ messages, tools: [] });
    messages.push(message, userMessage('More.'));
    await agent.run({ messages, tools: [] });
    expect(agent.requests.map((request) => request.messages.length)).toEqual([1, 3]);
  });

  it('gives each of several concurrent requests its own step [S0.31]', async () => {
    const agent = scriptedAgent(['One.', 'Two.', 'Three.']);
    const responses = await Promise.all([agent.run(hello), agent.run(hello), agent.run(hello)]);
    expect(responses.map(({ content }) => content).toSorted()).toEqual(['One.', 'Three.', 'Two.']);
  });

  it('rejects invalid requests without using a step', async () => {
    const agent = scriptedAgent(['Still here.'], { capabilities: { files: [] } });
    const image = { type: 'file', mediaType: 'image/png', data: 'AAAA' } as const;
    const blind = await errorOf(agent.run({ messages: [{ role: 'user', content: [image] }], tools: [] }));
    expect(blind.kind).toBe('invalid');
    const orphan: Message = { role: 'tool_result', toolCallId: 'x', content: [] };
    expect((await errorOf(agent.run({ messages: [orphan], tools: [] }))).kind).toBe('invalid');
    expect((await agent.run(hello)).content).toBe('Still here.');
  });

  it('names the step of the script that throws', async () => {
    const broken = () => {
      throw new TypeError('nothing to add');
    };
    const error = await errorOf(
      scriptedAgent(['fine', broken], { repeat: true })
        .run(hello)
        .then(() => scriptedAgent([broken]).run(hello)),
    );
    expect(error).toMatchObject({ kind: 'agent', code: 'script_threw' });
    expect(error.message).toBe('Step 1 of the script threw: nothing to add');
  });
});
