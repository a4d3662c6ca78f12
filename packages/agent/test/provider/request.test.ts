import { describe, expect, test, vi } from 'vitest';
import type { Capabilities, ModelRequest } from '../../src/interfaces/agent.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import type { WireRequest } from '../../src/provider/wire/wire.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';
import { streams } from '../support/fake-server.ts';
import { secret, textAnswer } from '../support/plain-wire.ts';
import { able, hurry, rig } from '../support/provider-rig.ts';

const good = streams(textAnswer('Hi'));

const tool = (name: string): Tool => ({
  name,
  description: `Does ${name}`,
  parameters: { type: 'object', properties: { word: { type: 'string' } } },
  execute: () => '',
});

describe('the request body', () => {
  test('is the envelope with the turns in the field that the wire names', async () => {
    const { ask, server } = rig([good], { maxTokens: 50 });
    await ask({ system: ['Be brief.', ' ', 'Today.'], tools: [tool('look')] });
    expect(JSON.parse(server.at(0).text)).toEqual({
      model: 'plain-1',
      toolChoice: 'auto',
      maxTokens: 50,
      system: ['Be brief.', 'Today.'],
      tools: [{ name: 'look', description: 'Does look', parameters: tool('look').parameters }],
      turns: [{ side: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  test('contains items before the turns, and may have an envelope without fields', async () => {
    const { ask, server } = rig([good], {
      wire: {
        envelope: () => ({ body: {}, turns: 'm', lead: ['first', { second: 2 }] }),
        turn: () => [1, 2],
      },
    });
    await ask();
    expect(server.at(0).text).toBe('{"m":["first",{"second":2},1,2]}');
  });

  test('marks the last turns of this request and the one before, without serializing again', async () => {
    const turn = vi.fn(() => [{ t: 'x' }]);
    const cache = { lifetimes: [{ ms: 1000, write: 1.25, mark: ',"c":1' }], read: 0.1, markBack: 1 };
    const { ask, server } = rig([good, good], {
      wire: { turn, envelope: () => ({ body: {}, turns: 'm' }), cache },
    });
    const messages: Message[] = [userMessage('a')];
    await ask({ messages });
    messages.push({ role: 'assistant', content: [{ type: 'text', text: 'b' }] }, userMessage('c'));
    await ask({ messages });
    expect(server.exchanges.map(({ text }) => text)).toEqual([
      '{"m":[{"t":"x","c":1}]}',
      '{"m":[{"t":"x","c":1},{"t":"x"},{"t":"x","c":1}]}',
    ]);
    expect(turn).toHaveBeenCalledTimes(3);
  });

  test('serializes each of 50 turns once, and an envelope with 50 tools once', async () => {
    const turn = vi.fn(() => [{ t: 'x' }]);
    const envelope = vi.fn(() => ({ body: {}, turns: 'm' }));
    const { ask } = rig(
      Array.from({ length: 50 }, () => good),
      { wire: { turn, envelope } },
    );
    const tools = Array.from({ length: 50 }, (_, index) => tool(`tool_${index}`));
    const messages: Message[] = [userMessage('a')];
    for (let index = 0; index < 50; index += 1) {
      const { message } = await ask({ messages: [...messages], tools: [...tools], system: ['Be', 'brief'] });
      messages.push(message, userMessage('more'));
    }
    expect(turn).toHaveBeenCalledTimes(99);
    expect(envelope).toHaveBeenCalledTimes(1);
  });

  test('has a new envelope for changed tools, instructions or tool choice, and reuses earlier ones', async () => {
    const envelope = vi.fn((_: WireRequest) => ({ body: {}, turns: 'm' }));
    const { ask } = rig(
      Array.from({ length: 8 }, () => good),
      { wire: { envelope } },
    );
    const tools = [tool('look')];
    await ask({ tools, system: 'a' });
    await ask({ tools, system: 'b' });
    await ask({ tools, system: 'a', config: { toolChoice: 'none' } });
    await ask({ tools, system: 'a' });
    await ask({ tools: [tool('look')], system: 'a' });
    await ask({ tools: [...tools, tool('put')], system: 'a' });
    await ask({ tools: [...tools, tool('cut')], system: 'a' });
    await ask({ system: 'a', config: { toolChoice: 'none' } });
    expect(
      envelope.mock.calls.map(([{ system, toolChoice, tools: specs }]) => [
        system[0],
        toolChoice,
        specs.length,
      ]),
    ).toEqual([
      ['a', 'auto', 1],
      ['b', 'auto', 1],
      ['a', 'none', 1],
      ['a', 'auto', 1],
      ['a', 'auto', 2],
      ['a', 'auto', 2],
      ['a', 'auto', 0],
    ]);
  });

  test('contains the current text of instructions that were changed in place', async () => {
    const { ask, server } = rig([good, good]);
    const system = ['old'];
    await ask({ system });
    system[0] = 'new';
    await ask({ system });
    expect(JSON.parse(server.at(1).text).system).toEqual(['new']);
  });

  test('comes with the headers of endpoint and envelope in lower case, and the default ones', async () => {
    const { ask, server } = rig([good], {
      wire: { envelope: () => ({ body: {}, turns: 'm', headers: { 'X-Beta': 'on' } }) },
    });
    await ask();
    expect(server.at(0).request).toMatchObject({
      url: 'https://plain.test/answers',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-beta': 'on',
        'x-key': secret,
      },
    });
  });

  test('comes with endpoint headers that override the defaults, and envelope headers that override both', async () => {
    const { ask, server } = rig([good], {
      wire: {
        endpoint: { url: 'https://plain.test', headers: { Accept: 'a', beta: 'endpoint' } },
        envelope: () => ({ body: {}, turns: 'm', headers: { Beta: 'envelope' } }),
      },
    });
    await ask();
    expect(server.at(0).request.headers).toEqual({
      'content-type': 'application/json',
      accept: 'a',
      beta: 'envelope',
    });
  });

  test('is not sent with an invalid header, whose value the error does not show', async () => {
    const { fails, server } = rig([good], {
      wire: { endpoint: { url: 'https://plain.test', headers: { 'x-key': `${secret}\n` } } },
    });
    const error = await fails();
    expect(error).toMatchObject({ kind: 'invalid', retryable: false });
    expect(error.message).toMatch(/"x-key".*line break/);
    expect(error.message).not.toContain(secret);
    expect(server.exchanges).toHaveLength(0);
  });
});

describe('the configuration [S0.3, S0.4]', () => {
  async function asked(options: object, config?: ModelRequest['config']) {
    const { ask, server } = rig([good], options);
    await ask(config === undefined ? {} : { config });
    const { maxTokens, temperature, effort } = JSON.parse(server.at(0).text);
    return { maxTokens, temperature, effort };
  }

  test('treats 0 tokens and temperature -1 as unset, and prefers the request to the agent', async () => {
    expect(await asked({ maxTokens: 0, temperature: -1 })).toEqual({});
    expect(await asked({ maxTokens: 7, temperature: 0.5 }, { maxTokens: 0, temperature: -1 })).toEqual({
      maxTokens: 7,
      temperature: 0.5,
    });
    expect(await asked({ maxTokens: 7, temperature: 0.5 }, { maxTokens: 9, temperature: 0 })).toEqual({
      maxTokens: 9,
      temperature: 0,
    });
  });

  test('prefers the effort of a request to the one of the agent, which must support it', async () => {
    expect(await asked({ effort: 'max' })).toEqual({ effort: 'max' });
    expect(await asked({ effort: 'max' }, { effort: 'low' })).toEqual({ effort: 'low' });
    await expect(asked({ effort: 'low', capabilities: { ...able, reasoning: false } })).rejects.toThrow(
      'does not support the effort option',
    );
  });

  test('omits effort for models that do not reason', async () => {
    expect(await asked({}, { effort: 'low' })).toEqual({ effort: 'low' });
    expect(await asked({ capabilities: { ...able, reasoning: false } }, { effort: 'low' })).toEqual({});
  });
});

describe('an unsupported request fails as invalid before anything is sent', () => {
  const image = { type: 'file', mediaType: 'image/png', data: 'aGk=' } as const;
  const pdf = { type: 'file', mediaType: 'application/pdf', data: 'aGk=' } as const;
  const output = { name: 'city', schema: { type: 'object' } };
  const cases: [string, Partial<Capabilities>, Partial<ModelRequest>, RegExp][] = [
    [
      'images',
      { files: ['text/*'] },
      { messages: [userMessage([image])] },
      /files of type image\/png, only text/,
    ],
    ['documents', { files: [] }, { messages: [userMessage([pdf])] }, /does not accept files\./],
    ['a temperature', { sampling: false }, { config: { temperature: 0 } }, /temperature/],
    ['an output schema that needs a tool', { output: 'tool' }, { output }, /output schema/],
    ['an output schema', { output: 'none' }, { output }, /output schema/],
    [
      'an output schema without a valid name',
      {},
      { output: { ...output, name: 'a b' } },
      /name of the output/,
    ],
    ['a fractional number of tokens', {}, { config: { maxTokens: 0.5 } }, /maxTokens/],
    ['a negative number of tokens', {}, { config: { maxTokens: -4 } }, /maxTokens/],
    ['a temperature that is too high', {}, { config: { temperature: 3 } }, /temperature/],
    ['a temperature that is not a number', {}, { config: { temperature: Number.NaN } }, /temperature/],
    ['two tools with the same name', {}, { tools: [tool('look'), tool('look')] }, /two tools named look/],
    ['a tool with an invalid name', {}, { tools: [tool('a b')] }, /request\.tools\[0\]\.name/],
    ['an empty conversation', {}, { messages: [] }, /no message/],
    [
      'a call without a result',
      {},
      {
        messages: [
          userMessage('x'),
          { role: 'assistant', content: [{ type: 'tool_call', id: 'c9', toolName: 'look', arguments: {} }] },
        ],
      },
      /c9/,
    ],
  ];

  test.each(cases)('%s', async (_name, capabilities, request, message) => {
    const { fails, server } = rig([good], { capabilities: { ...able, ...capabilities } });
    const error = await fails(request);
    expect(error).toMatchObject({ kind: 'invalid', retryable: false });
    expect(error.message).toMatch(message);
    expect(server.exchanges).toHaveLength(0);
  });

  test('a value that JSON cannot represent', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const call = { type: 'tool_call', id: 'a', toolName: 'look', arguments: cycle } as const;
    const { fails } = rig([good]);
    const messages: Message[] = [
      userMessage('x'),
      { role: 'assistant', content: [call] },
      { role: 'tool_result', toolCallId: 'a', content: [] },
    ];
    expect(await fails({ messages })).toMatchObject({ kind: 'invalid' });
  });

  test('an agent without a model', () => {
    expect(() => rig([], { model: ' ' })).toThrow(/No model/);
  });
});

describe('the endpoint', () => {
  test('is looked up once, and again after a failure', async () => {
    const endpoint = vi
      .fn<() => Promise<{ url: string; headers: Record<string, string> }>>()
      .mockRejectedValueOnce(new Error('no credentials'))
      .mockResolvedValue({ url: 'https://plain.test', headers: {} });
    const { ask, fails } = rig([good, good], { wire: { endpoint } });
    expect(await fails()).toMatchObject({ kind: 'invalid', message: 'no credentials' });
    await ask();
    await ask();
    expect(endpoint).toHaveBeenCalledTimes(2);
  });

  test('is looked up again as often as a request is retried', async () => {
    const unreachable = new AgentError({ kind: 'network', message: 'no token', retryable: true });
    const endpoint = vi.fn(() => Promise.reject(unreachable));
    const { fails, runtime, events } = rig([good], { wire: { endpoint }, retry: { retries: 3 } });
    expect(await hurry(runtime, fails())).toMatchObject({ kind: 'network', message: 'no token' });
    expect(endpoint).toHaveBeenCalledTimes(4);
    expect(events.map((event) => event.type === 'retry' && event.attempt)).toEqual([1, 2, 3]);
  });

  test('is rejected if it is not an HTTP URL', async () => {
    const { fails, server } = rig([good], { wire: { endpoint: { url: 'ftp://plain.test', headers: {} } } });
    expect(await fails()).toMatchObject({ kind: 'invalid', code: 'bad_url' });
    expect(server.exchanges).toHaveLength(0);
  });
});

test('a wire can send a request itself, with the whole body and all headers but the endpoint headers', async () => {
  const send = vi.fn();
  const { ask, server } = rig([good], { wire: { send } });
  send.mockImplementation(
    (body: Uint8Array, link: { signal: AbortSignal; headers: Record<string, string> }) =>
      server.transport({ url: '', body: [body], ...link }),
  );
  expect((await ask()).content).toBe('Hi');
  expect(server.at(0).request.body).toHaveLength(1);
  expect(JSON.parse(server.at(0).text)).toMatchObject({ model: 'plain-1' });
  expect(server.at(0).request.headers).toEqual({
    'content-type': 'application/json',
    accept: 'text/event-stream',
  });
});
