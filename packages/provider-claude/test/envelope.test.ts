import type { WireRequest } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { defaultMaxTokens, writeEnvelope } from '../src/envelope.ts';

const plain: WireRequest = { model: 'claude-sonnet-5-5', system: [], tools: [], toolChoice: 'auto' };
const tool = { name: 'look_up', description: 'Looks a word up.', parameters: { type: 'object' } };
const mark = { cache_control: { type: 'ephemeral' } };

test('every request streams, whatever the length of the answer [S0.19]', () => {
  expect(writeEnvelope(plain, 'unset')).toEqual({
    body: { model: 'claude-sonnet-5-5', max_tokens: defaultMaxTokens, stream: true },
    turns: 'messages',
  });
});

test('the parameters of a tool become its input_schema [S0.18]', () => {
  const { body } = writeEnvelope({ ...plain, tools: [tool] }, 'unset');
  expect(body['tools']).toEqual([
    { name: 'look_up', description: 'Looks a word up.', input_schema: { type: 'object' }, ...mark },
  ]);
});

describe('tool choice', () => {
  test('a closing call keeps the tools declared and forbids them', () => {
    const { body } = writeEnvelope({ ...plain, tools: [tool], toolChoice: 'none' }, 'unset');
    expect(body).toMatchObject({ tools: [{ name: 'look_up' }], tool_choice: { type: 'none' } });
  });

  test('without tools there is nothing to choose', () => {
    expect(writeEnvelope({ ...plain, toolChoice: 'none' }, 'unset').body).not.toHaveProperty('tool_choice');
  });
});

describe('cache marks', () => {
  const marks = (request: Partial<WireRequest>) => {
    const { body } = writeEnvelope({ ...plain, ...request }, 'unset');
    const places = [...((body['tools'] ?? []) as object[]), ...((body['system'] ?? []) as object[])];
    return places.map((place) => 'cache_control' in place);
  };

  test('stand after the last tool and after the system text', () => {
    expect(marks({ tools: [tool, { ...tool, name: 'put' }], system: ['Be brief.'] })).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('stand before and after the last system text, which is the one that changes', () => {
    expect(marks({ tools: [tool], system: ['Be brief.', 'You like cats.', 'Today is Monday.'] })).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('how long the prefix is kept', () => {
  const kept = (keepMs: number) => {
    const { body } = writeEnvelope({ ...plain, tools: [tool], system: ['Be brief.'], keepMs }, 'unset');
    const places = [...((body['tools'] ?? []) as object[]), ...((body['system'] ?? []) as object[])];
    return places.map((place) => ('cache_control' in place ? place.cache_control : undefined));
  };

  test('five minutes are what a mark means, an hour has to be said', () => {
    expect(kept(300_000)).toEqual([{ type: 'ephemeral' }, { type: 'ephemeral' }]);
    const hour = { type: 'ephemeral', ttl: '1h' };
    expect(kept(3_600_000)).toEqual([hour, hour]);
  });

  test('nothing is marked that is not to be kept', () => {
    expect(kept(0)).toEqual([undefined, undefined]);
  });
});

describe('thinking', () => {
  const said = (model: string, how: Parameters<typeof writeEnvelope>[1]) => {
    const { body, headers } = writeEnvelope({ ...plain, model }, how);
    return { thinking: body['thinking'], beta: headers?.['anthropic-beta'] };
  };

  test('a changed prefix drops thinking instead of refusing the conversation for ever [P12]', () => {
    expect(said('claude-opus-5-5', 'summarized')).toEqual({
      thinking: {
        type: 'adaptive',
        display: 'summarized',
        block_binding: { prefix_mismatch_behavior: 'drop_block' },
      },
      beta: 'thinking-binding-controls-2026-08-01',
    });
  });

  test('an older model is not sent what it does not know', () => {
    expect(said('claude-opus-4-7', 'omitted')).toEqual({
      thinking: { type: 'adaptive', display: 'omitted' },
    });
    expect(said('claude-haiku-4-5', 'summarized')).toEqual({});
    expect(said('some-other-model', 'summarized')).toEqual({});
  });

  test('it can be turned off, or left unsaid', () => {
    expect(said('claude-haiku-5-5', 'disabled').thinking).toEqual({ type: 'disabled' });
    expect(said('claude-sonnet-5-5', 'between_tools').thinking).toEqual({ type: 'between_tools' });
    expect(said('claude-sonnet-5-5', 'unset')).toEqual({});
  });

  test('effort is for models that think', () => {
    const effort = (model: string) =>
      writeEnvelope({ ...plain, model, effort: 'low' }, 'unset').body['output_config'];
    expect(effort('claude-sonnet-5-5')).toEqual({ effort: 'low' });
    expect(effort('claude-haiku-4-5')).toBeUndefined();
  });
});

test('an output shape is asked for natively, its objects closed, its name as title', () => {
  const output = { name: 'answer', schema: { type: 'object', properties: { sum: { type: 'number' } } } };
  expect(writeEnvelope({ ...plain, output }, 'unset').body['output_config']).toEqual({
    format: {
      type: 'json_schema',
      schema: {
        title: 'answer',
        type: 'object',
        properties: { sum: { type: 'number' } },
        additionalProperties: false,
      },
    },
  });
});

test('equal requests give equal bytes', () => {
  const request = { ...plain, tools: [tool], system: ['a', 'b'], effort: 'high' } as const;
  const bytes = () => JSON.stringify(writeEnvelope(structuredClone(request), 'summarized'));
  expect(bytes()).toBe(bytes());
});
