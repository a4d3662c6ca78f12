import type { WireRequest } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { defaultMaxTokens, writeEnvelope } from '../src/envelope.ts';

const plain: WireRequest = { model: 'claude-sonnet-5-5', system: [], tools: [], toolChoice: 'auto' };
const tool = { name: 'look_up', description: 'Looks a word up.', parameters: { type: 'object' } };
const mark = { cache_control: { type: 'ephemeral' } };

test('streams every response [S0.19]', () => {
  expect(writeEnvelope(plain, 'unset')).toEqual({
    body: { model: 'claude-sonnet-5-5', max_tokens: defaultMaxTokens, stream: true },
    turns: 'messages',
  });
});

test('sends the parameters of a tool as its input_schema [S0.18]', () => {
  const { body } = writeEnvelope({ ...plain, tools: [tool] }, 'unset');
  expect(body['tools']).toEqual([
    { name: 'look_up', description: 'Looks a word up.', input_schema: { type: 'object' }, ...mark },
  ]);
});

describe('tool choice', () => {
  test('declares tools but forbids their use for none', () => {
    const { body } = writeEnvelope({ ...plain, tools: [tool], toolChoice: 'none' }, 'unset');
    expect(body).toMatchObject({ tools: [{ name: 'look_up' }], tool_choice: { type: 'none' } });
  });

  test('is omitted without tools', () => {
    expect(writeEnvelope({ ...plain, toolChoice: 'none' }, 'unset').body).not.toHaveProperty('tool_choice');
  });
});

describe('cache marks', () => {
  const marks = (request: Partial<WireRequest>) => {
    const { body } = writeEnvelope({ ...plain, ...request }, 'unset');
    const places = [...((body['tools'] ?? []) as object[]), ...((body['system'] ?? []) as object[])];
    return places.map((place) => 'cache_control' in place);
  };

  test('are on the last tool and the system text', () => {
    expect(marks({ tools: [tool, { ...tool, name: 'put' }], system: ['Be brief.'] })).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('are on the last two of several system texts, because the last one changes', () => {
    expect(marks({ tools: [tool], system: ['Be brief.', 'You like cats.', 'Today is Monday.'] })).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('the cache lifetime', () => {
  const kept = (keepMs: number) => {
    const { body } = writeEnvelope({ ...plain, tools: [tool], system: ['Be brief.'], keepMs }, 'unset');
    const places = [...((body['tools'] ?? []) as object[]), ...((body['system'] ?? []) as object[])];
    return places.map((place) => ('cache_control' in place ? place.cache_control : undefined));
  };

  test('omits ttl for five minutes and sends it for one hour', () => {
    expect(kept(300_000)).toEqual([{ type: 'ephemeral' }, { type: 'ephemeral' }]);
    const hour = { type: 'ephemeral', ttl: '1h' };
    expect(kept(3_600_000)).toEqual([hour, hour]);
  });

  test('sets no marks for a lifetime of zero', () => {
    expect(kept(0)).toEqual([undefined, undefined]);
  });
});

describe('thinking', () => {
  const said = (model: string, how: Parameters<typeof writeEnvelope>[1]) => {
    const { body, headers } = writeEnvelope({ ...plain, model }, how);
    return { thinking: body['thinking'], beta: headers?.['anthropic-beta'] };
  };

  test('is dropped by the service after a prefix change, instead of an error [P12]', () => {
    expect(said('claude-opus-5-5', 'summarized')).toEqual({
      thinking: {
        type: 'adaptive',
        display: 'summarized',
        block_binding: { prefix_mismatch_behavior: 'drop_block' },
      },
      beta: 'thinking-binding-controls-2026-08-01',
    });
  });

  test('has only the fields that the model supports', () => {
    expect(said('claude-opus-4-7', 'omitted')).toEqual({
      thinking: { type: 'adaptive', display: 'omitted' },
    });
    expect(said('claude-haiku-4-5', 'summarized')).toEqual({});
    expect(said('some-other-model', 'summarized')).toEqual({});
  });

  test('can be disabled, limited to between tools, or omitted', () => {
    expect(said('claude-haiku-5-5', 'disabled').thinking).toEqual({ type: 'disabled' });
    expect(said('claude-sonnet-5-5', 'between_tools').thinking).toEqual({ type: 'between_tools' });
    expect(said('claude-sonnet-5-5', 'unset')).toEqual({});
  });

  test('sends the effort only to models with adaptive thinking', () => {
    const effort = (model: string) =>
      writeEnvelope({ ...plain, model, effort: 'low' }, 'unset').body['output_config'];
    expect(effort('claude-sonnet-5-5')).toEqual({ effort: 'low' });
    expect(effort('claude-haiku-4-5')).toBeUndefined();
  });
});

test('requests native output with closed objects and the name as title', () => {
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

test('writes identical bytes for equal requests', () => {
  const request = { ...plain, tools: [tool], system: ['a', 'b'], effort: 'high' } as const;
  const bytes = () => JSON.stringify(writeEnvelope(structuredClone(request), 'summarized'));
  expect(bytes()).toBe(bytes());
});
