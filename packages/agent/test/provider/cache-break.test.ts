import { describe, expect, test } from 'vitest';
import type { AgentEvent, CacheBreak, ModelRequest } from '../../src/interfaces/agent.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import type { AssistantMessage, Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';
import { streams } from '../support/fake-server.ts';
import { textAnswer } from '../support/plain-wire.ts';
import { rig } from '../support/provider-rig.ts';

const good = streams(textAnswer('Hi'));

const tool = (name: string, properties: Tool['parameters'] = {}): Tool => ({
  name,
  description: `Does ${name}`,
  parameters: { type: 'object', properties },
  execute: () => '',
});

const say = (text: string): AssistantMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const history = (...texts: string[]): Message[] =>
  texts.map((text, index) => (index % 2 === 0 ? userMessage(text) : say(text)));
const reread = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Sends the requests in order to one agent and returns the cache break of each, if any. */
async function broken(...requests: Partial<ModelRequest>[]): Promise<(CacheBreak | undefined)[]> {
  const { ask, events, server } = rig(requests.map(() => good));
  const found: (CacheBreak | undefined)[] = [];
  for (const request of requests) {
    events.length = 0;
    await ask(request);
    const breaks = events.filter((event): event is CacheBreak => event.type === 'cache_break');
    expect(breaks.length).toBeLessThan(2);
    // The event comes before all others of the response.
    if (breaks.length > 0) expect(events[0]).toBe(breaks[0]);
    found.push(breaks[0]);
  }
  expect(server.exchanges).toHaveLength(requests.length);
  return found;
}

const layers = (breaks: readonly (CacheBreak | undefined)[]) =>
  breaks.map((found) => (found === undefined ? '-' : `${found.layer} ${found.block}`));

describe('no cache break is reported', () => {
  test('for a conversation that only grows, even by another message of the same role', async () => {
    const messages = history('a', 'b', 'c', 'd', 'e');
    const grown = [1, 3, 5].map((length) => ({ messages: messages.slice(0, length) }));
    expect(layers(await broken(...grown, { messages: [...messages, userMessage('f')] }))).toEqual(
      times(4, '-'),
    );
  });

  test('for a repeated request', async () => {
    const request = { messages: history('a'), tools: [tool('look')], system: 'Be brief.' };
    expect(layers(await broken(request, request, request))).toEqual(times(3, '-'));
  });

  test('for forks of a history, another response, or a step back', async () => {
    const base = history('a', 'b', 'c');
    const forks = [
      [...base, say('d'), userMessage('e')],
      [...base, say('D'), userMessage('E')],
      [...base.slice(0, 2), userMessage('C')],
      base.slice(0, 1),
    ];
    expect(layers(await broken({ messages: base }, ...forks.map((messages) => ({ messages }))))).toEqual(
      times(5, '-'),
    );
  });

  test('for another conversation, even with the same first message and other tools', async () => {
    const requests = [
      { messages: history('Go.'), tools: [tool('look')], system: 'One.' },
      { messages: history('Go.'), tools: [tool('put')], system: 'Two.' },
      { messages: history('Hello.', 'Yes?', 'Go.'), tools: [], system: 'Three.' },
    ];
    expect(layers(await broken(...requests))).toEqual(times(3, '-'));
  });

  test('for new objects with the same content: reordered keys of tools, a history parsed from JSON', async () => {
    const text = { type: 'string' };
    const number = { minimum: 1, type: 'integer' };
    const messages = history('a', 'b', 'c', 'd', 'e');
    const requests = [
      { messages: messages.slice(0, 3), tools: [tool('look', { text, number })], system: ['One.', 'Two.'] },
      {
        messages: reread(messages),
        tools: [tool('look', { number: { type: 'integer', minimum: 1 }, text })],
        system: ['One.', 'Two.'],
      },
    ];
    expect(layers(await broken(...requests))).toEqual(times(2, '-'));
  });

  test('for settings that are not part of the prompt', async () => {
    const messages = history('a');
    const requests = [{}, { maxTokens: 50 }, { temperature: 0.5 }, { toolChoice: 'none' as const }];
    const made = requests.map((config) => ({ messages, tools: [tool('look')], config }));
    expect(layers(await broken(...made))).toEqual(times(4, '-'));
  });
});

describe('a cache break is reported once', () => {
  const messages = history('a', 'b', 'c');

  test('for a removed tool, and again when it is added back', async () => {
    const both = { messages, tools: [tool('look'), tool('put')] };
    const one = { messages, tools: both.tools.slice(0, 1) };
    expect(layers(await broken(both, one, one, both, both))).toEqual(['-', 'tools 1', '-', 'tools 1', '-']);
  });

  test('for a changed tool description, and for reordered tools', async () => {
    const [look, put] = [tool('look'), tool('put')];
    const requests = [
      { messages, tools: [look, put] },
      { messages, tools: [look, { ...put, description: 'Does much' }] },
      { messages, tools: [{ ...put, description: 'Does much' }, look] },
    ];
    expect(layers(await broken(...requests))).toEqual(['-', 'tools 1', 'tools 0']);
  });

  test('for instructions, even if they are changed in place', async () => {
    const system = ['You are kind.', 'Today is Monday.'];
    const { ask, events } = rig([good, good, good]);
    const found: string[] = [];
    for (const today of ['Today is Monday.', 'Today is Tuesday.', 'Today is Tuesday.']) {
      system[1] = today;
      events.length = 0;
      await ask({ messages, system });
      found.push(...layers(events.filter((event) => event.type === 'cache_break')));
    }
    expect(found).toEqual(['system 1']);
    expect(layers(await broken({ messages, system: 'One.' }, { messages }))).toEqual(['-', 'system 0']);
  });

  test('for a changed, a removed and an inserted message', async () => {
    const long = history('a', 'b', 'c', 'd', 'e');
    const more = [say('f'), userMessage('g')];
    // The same text in another object is not a change.
    expect(
      layers(
        await broken(
          { messages: long },
          { messages: [...long.with(2, userMessage('C')), ...more] },
          { messages: [...long.with(2, userMessage('C')), ...more] },
        ),
      ),
    ).toEqual(['-', 'history 2', '-']);
    expect(layers(await broken({ messages: long }, { messages: long.slice(2) }))).toEqual(['-', 'history 0']);
    const put = [...long.slice(0, 2), userMessage('x'), ...long.slice(2)];
    expect(layers(await broken({ messages: long }, { messages: put }))).toEqual(['-', 'history 2']);
  });

  test('for messages replaced by a summary, and for a sliding window', async () => {
    const long = history('a', 'b', 'c', 'd', 'e', 'f', 'g');
    const compacted = [userMessage('Summary: a to c'), ...long.slice(3)];
    expect(layers(await broken({ messages: long }, { messages: compacted }))).toEqual(['-', 'history 0']);
    const windows = [long.slice(0, 3), long.slice(2, 5), long.slice(4, 7)];
    expect(layers(await broken(...windows.map((part) => ({ messages: part }))))).toEqual([
      '-',
      'history 0',
      'history 0',
    ]);
  });

  test('for each of these changes if the history was parsed from JSON', async () => {
    const long = history('a', 'b', 'c', 'd', 'e');
    const tools = [tool('look')];
    const first = { messages: long.slice(0, 3), tools, system: 'One.' };
    const again = (change: Partial<ModelRequest>) => ({ ...first, messages: reread(long), ...change });
    expect(layers(await broken(first, again({ tools: [] })))).toEqual(['-', 'tools 0']);
    expect(layers(await broken(first, again({ system: 'Two.' })))).toEqual(['-', 'system 0']);
    const changed = reread(long.with(1, say('B')));
    expect(layers(await broken(first, again({ messages: changed })))).toEqual(['-', 'history 1']);
  });

  test('for the first layer if several changed', async () => {
    const first = { messages, tools: [tool('look')], system: 'One.' };
    const then = { messages: messages.with(0, userMessage('A')), tools: [], system: 'Two.' };
    expect(layers(await broken(first, then))).toEqual(['-', 'tools 0']);
  });
});

test('a cache break counts the tokens from the first change onward', async () => {
  const messages = history('x'.repeat(4_000), 'y'.repeat(4_000), 'z'.repeat(4_000));
  const first = { messages, system: ['s'.repeat(4_000), 't'.repeat(4_000)], tools: [tool('look')] };
  const tokens = async (change: Partial<ModelRequest>) =>
    (await broken(first, { ...first, ...change }))[1]?.tokens ?? 0;
  const near = (found: number, least: number) => {
    expect(found).toBeGreaterThanOrEqual(least);
    expect(found).toBeLessThan(least + 100);
  };
  near(await tokens({ tools: [] }), 5_000);
  near(await tokens({ system: [first.system[0] ?? '', 'u'] }), 4_000);
  near(await tokens({ messages: messages.with(1, say('y')) }), 2_000);
});

test('a callback that throws does not prevent the request', async () => {
  const { agent, server } = rig([good, good]);
  const messages = history('a');
  const emit = (event: AgentEvent) => {
    if (event.type === 'cache_break') throw new Error('not interested');
  };
  await agent.run({ messages, tools: [], system: 'One.' }, { emit });
  expect((await agent.run({ messages, tools: [], system: 'Two.' }, { emit })).content).toBe('Hi');
  expect(server.exchanges).toHaveLength(2);
});

test('a history parsed from JSON is sent as the same bytes', async () => {
  const { ask, server } = rig([good, good]);
  const call = { type: 'tool_call', id: 'same', toolName: 'look', arguments: { b: 1, a: ['ä€😀'] } } as const;
  const seal = { provider: 'plain', data: { z: 1, a: null } };
  const messages: Message[] = [
    userMessage([
      { type: 'text', text: 'a' },
      { type: 'file', mediaType: 'image/png', data: 'aGk=' },
    ]),
    { role: 'assistant', content: [{ type: 'reasoning', text: 'hm', seal }, call, call] },
    { role: 'tool_result', toolCallId: 'same', content: [{ type: 'text', text: 'one' }] },
    { role: 'tool_result', toolCallId: 'same', content: [{ type: 'text', text: 'two' }], isError: true },
  ];
  await ask({ messages });
  await ask({ messages: reread(messages) });
  expect(server.at(1).text).toBe(server.at(0).text);
});

function times<Value>(count: number, value: Value): Value[] {
  return Array.from({ length: count }, () => value);
}
