import type { WireError } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';
import { encrypt } from '../src/testing/responses/cipher.ts';

/** Returns the status, message and parameter of a rejection, or undefined. */
function words(refusal: WireError | undefined): string | undefined {
  if (refusal === undefined) return undefined;
  const { error } = JSON.parse(refusal.body) as { error: { message: string; param: string | null } };
  return `${refusal.status} ${error.message} (${error.param})`;
}

describe('the Responses mock', () => {
  const hello = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] };
  const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: encrypt('secret') };
  const call = { type: 'function_call', call_id: 'call_1', name: 'one', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'ok' };

  function refused(input: readonly unknown[], rest: Record<string, unknown> = {}): string | undefined {
    return words(
      responsesTesting.refuse({ model: 'gpt-6.1-sol', store: false, stream: true, input, ...rest }),
    );
  }

  test('accepts a valid history', () => {
    expect(
      refused([hello, thought, call, output, { type: 'message', role: 'assistant', content: 'Done.' }]),
    ).toBeUndefined();
  });

  test('rejects a call without an output', () => {
    expect(refused([hello, call])).toBe('400 No tool output found for function call call_1. (input)');
    expect(refused([hello, output, call])).toContain('No tool call found');
  });

  test('rejects an output without a call', () => {
    expect(refused([hello, output])).toBe(
      '400 No tool call found for function call output with call_id call_1. (input)',
    );
  });

  test('rejects reasoning that no output item of the model follows', () => {
    const message =
      "400 Item 'rs_1' of type 'reasoning' was provided without its required following item. (input)";
    expect(refused([hello, thought])).toBe(message);
    expect(refused([hello, thought, hello])).toBe(message);
    expect(refused([hello, thought, { type: 'message', role: 'assistant', content: 'x' }])).toBe(message);
    const own = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] };
    expect(refused([hello, thought, own])).toBeUndefined();
    expect(refused([hello, thought, { ...thought, id: 'rs_2' }, call, output])).toBeUndefined();
  });

  test('rejects a call with an item id whose reasoning is missing', () => {
    const message =
      "400 Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'. (input)";
    expect(refused([hello, { ...call, id: 'fc_1' }, output])).toBe(message);
    expect(refused([hello, thought, { ...call, id: 'fc_1' }, output])).toBeUndefined();
  });

  test('rejects reasoning that was changed', () => {
    const forged = { ...thought, encrypted_content: thought.encrypted_content.replace('secret', 'secrets') };
    expect(refused([hello, forged, call, output])).toMatch(
      /^400 The encrypted content for item rs_1 could not be verified/,
    );
  });

  test('rejects reasoning without its content, because nothing is stored', () => {
    const { encrypted_content: _, ...bare } = thought;
    expect(refused([hello, bare, call, output])).toMatch(
      /^404 Item with id 'rs_1' not found\. Items are not persisted/,
    );
  });

  test('rejects a field that only the service sets', () => {
    expect(refused([hello, { ...thought, status: 'completed' }, call, output])).toBe(
      "400 Unknown parameter: 'input[1].status'. (input[1].status)",
    );
  });

  test('rejects an unknown parameter', () => {
    expect(refused([hello], { max_tokens: 5 })).toBe("400 Unknown parameter: 'max_tokens'. (max_tokens)");
  });

  test('rejects an id of more than 64 characters', () => {
    const call_id = 'x'.repeat(65);
    expect(refused([hello, { ...call, call_id }, { ...output, call_id }])).toBe(
      "400 Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead. (input[1].call_id)",
    );
  });

  test('rejects a tool name with invalid characters', () => {
    const message =
      "400 Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'. (tools[0].name)";
    expect(refused([hello], { tools: [{ type: 'function', name: 'a.b' }] })).toBe(message);
  });

  test('rejects a temperature for a reasoning model', () => {
    const message =
      "400 Unsupported parameter: 'temperature' is not supported with this model. (temperature)";
    expect(refused([hello], { temperature: 0.5 })).toBe(message);
    expect(refused([hello], { temperature: 0.5, model: 'gpt-4.1' })).toBeUndefined();
  });

  test('rejects a strict schema that cannot be enforced', () => {
    const format = {
      type: 'json_schema',
      name: 'facts',
      strict: true,
      schema: { type: 'object', properties: {} },
    };
    expect(refused([hello], { text: { format } })).toContain(
      "'additionalProperties' is required to be supplied and to be false",
    );
    expect(refused([hello], { text: { format: { ...format, strict: false } } })).toBeUndefined();
  });
});

describe('the Chat Completions mock', () => {
  const hello = { role: 'user', content: 'Hi.' };
  const called = {
    role: 'assistant',
    content: null,
    tool_calls: ['a', 'b'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'one', arguments: '{}' },
    })),
  };
  const results = ['a', 'b'].map((tool_call_id) => ({ role: 'tool', tool_call_id, content: 'ok' }));

  function refused(messages: readonly unknown[], rest: Record<string, unknown> = {}): string | undefined {
    return words(chatTesting.refuse({ model: 'gpt-4.1', stream: true, messages, ...rest }));
  }

  test('accepts a valid history', () => {
    expect(refused([hello, called, ...results, hello])).toBeUndefined();
  });

  test('rejects calls without tool messages directly after them', () => {
    const message =
      "400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ";
    expect(refused([hello, called, hello])).toBe(`${message}a, b (messages.[2].role)`);
    expect(refused([hello, called, ...results.slice(0, 1), hello, ...results.slice(1)])).toContain(
      "messages with role 'tool' must be",
    );
    expect(refused([hello, called, ...results.slice(0, 1), hello])).toBe(`${message}b (messages.[2].role)`);
  });

  test('rejects a tool message without preceding calls', () => {
    const message =
      "400 Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages.[1].role)";
    expect(refused([hello, ...results])).toBe(message);
  });

  test('rejects a tool message with an unknown call id', () => {
    const stray = { role: 'tool', tool_call_id: 'c', content: 'ok' };
    expect(refused([hello, called, ...results, stray])).toBe(
      "400 Invalid parameter: 'tool_call_id' of 'c' not found in 'tool_calls' of previous message. (messages.[4].tool_call_id)",
    );
  });

  test('rejects empty lists', () => {
    const message = 'empty array. Expected an array with minimum length 1, but got an empty array instead.';
    expect(refused([hello], { tools: [] })).toBe(`400 Invalid 'tools': ${message} (tools)`);
    expect(refused([hello, { role: 'assistant', content: 'x', tool_calls: [] }])).toContain(
      `'messages[1].tool_calls': ${message}`,
    );
  });

  test('rejects an assistant message without content', () => {
    expect(refused([hello, { role: 'assistant', content: null }])).toContain(
      "Invalid value for 'content': expected a string, got null.",
    );
  });

  test('rejects an id of more than 64 characters', () => {
    const long = { ...called, tool_calls: [{ ...called.tool_calls[0], id: 'x'.repeat(70) }] };
    expect(refused([hello, long])).toContain("Invalid 'messages[1].tool_calls[0].id': string too long");
  });

  test('rejects a tool name with invalid characters', () => {
    expect(refused([hello], { tools: [{ type: 'function', function: { name: 'a b' } }] })).toContain(
      "'tools[0].function.name'",
    );
  });

  test('rejects an unknown parameter', () => {
    expect(refused([hello], { max_output_tokens: 5 })).toBe(
      "400 Unknown parameter: 'max_output_tokens'. (max_output_tokens)",
    );
  });

  test('rejects a temperature for a reasoning model', () => {
    expect(refused([hello], { temperature: 0.5, model: 'gpt-5' })).toContain(
      "Unsupported parameter: 'temperature'",
    );
  });

  test('rejects tools for a reasoning model unless its effort is none', () => {
    const tools = [{ type: 'function', function: { name: 'one' } }];
    const message =
      "400 Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'. (reasoning_effort)";
    expect(refused([hello], { model: 'gpt-5.6-luna', tools })).toBe(message);
    expect(refused([hello], { model: 'gpt-5.6-luna', tools, reasoning_effort: 'none' })).toBeUndefined();
  });
});
