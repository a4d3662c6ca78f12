import { describe, expect, it } from 'vitest';
import { claudeEvents } from '../src/claude/claude-line.ts';
import { LineReader } from '../src/cli/line-reader.ts';
import { readCodexEvent } from '../src/codex/codex-line.ts';
import { usageSince, usdSince } from '../src/events/backend-event.ts';
import { failureOf } from '../src/events/failure.ts';
import { objectIn } from '../src/events/fields.ts';

const readClaudeLine = (text: string) => [objectIn(text) ?? []].flat().flatMap(claudeEvents);
const readCodexLine = (text: string) => [objectIn(text) ?? []].flat().flatMap(readCodexEvent);

const line = (object: unknown) => JSON.stringify(object);

describe('a line of Claude Code', () => {
  it('contains the id of the conversation and its model at the start [S2.12]', () => {
    const init = { type: 'system', subtype: 'init', session_id: 'abc', model: 'm', tools: ['Bash'] };
    expect(readClaudeLine(line(init))).toEqual([{ type: 'session', id: 'abc', model: 'm' }]);
  });

  it('contains one block of a response: text, thinking or a call [S1.6]', () => {
    const said = (content: object) =>
      readClaudeLine(line({ type: 'assistant', message: { id: 'm1', model: 'x', content: [content] } }));
    const of = { answer: 'm1', model: 'x' };
    expect(said({ type: 'text', text: 'Hi' })).toEqual([
      { type: 'part', part: { type: 'text', text: 'Hi' }, ...of },
    ]);
    expect(said({ type: 'thinking', thinking: 'Hm' })).toMatchObject([
      { part: { type: 'reasoning', text: 'Hm' } },
    ]);
    expect(said({ type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'a' } })).toMatchObject([
      { part: { type: 'tool_call', id: 't', toolName: 'Read', arguments: { file_path: 'a' } } },
    ]);
  });

  it('is ignored if it comes from a subagent', () => {
    const content = [{ type: 'text', text: 'inner' }];
    expect(
      readClaudeLine(line({ type: 'assistant', parent_tool_use_id: 't', message: { content } })),
    ).toEqual([]);
  });

  it('is ignored if it reports an API error as a model message', () => {
    const message = { content: [{ type: 'text', text: 'API Error: 529' }] };
    expect(readClaudeLine(line({ type: 'assistant', is_api_error_message: true, message }))).toEqual([]);
  });

  it('counts cached input as input [P14]', () => {
    const usage = {
      input_tokens: 1,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 300,
      output_tokens: 4,
    };
    const result = {
      type: 'result',
      subtype: 'success',
      result: 'x',
      num_turns: 1,
      total_cost_usd: 0.5,
      usage,
    };
    expect(readClaudeLine(line(result))).toMatchObject([
      {
        ok: true,
        text: 'x',
        turns: 1,
        totalUsd: 0.5,
        usage: { inputTokens: 321, outputTokens: 4, cacheReadTokens: 20 },
      },
    ]);
  });

  it.each([
    [
      { api_error_status: 529, result: 'API Error: 529' },
      { kind: 'rate_limit', status: 529, retryable: true },
    ],
    [
      { api_error_status: 401, result: 'about 500 and 529' },
      { kind: 'auth', status: 401 },
    ],
    [
      { api_error_status: 400, result: 'API Error: overloaded' },
      { kind: 'invalid', status: 400 },
    ],
    [
      { api_error_status: 500, result: 'x' },
      { kind: 'agent', status: 500, retryable: true },
    ],
    [
      { api_error: 'connection_failed', result: 'x' },
      { kind: 'network', retryable: true },
    ],
    [{ result: 'Not logged in · Please run /login' }, { kind: 'auth' }],
    [
      { subtype: 'error_max_turns', errors: ['Reached'] },
      { kind: 'limit', code: 'turns', message: 'Reached' },
    ],
    [{ subtype: 'error_max_budget_usd' }, { kind: 'limit', code: 'usd' }],
    [{ terminal_reason: 'aborted_tools', subtype: 'error_during_execution' }, { kind: 'aborted' }],
  ])('classifies a failure by its fields before its text: %j', (fields, error) => {
    const result = { type: 'result', subtype: 'success', is_error: true, num_turns: 1, ...fields };
    const [end] = readClaudeLine(line(result));
    expect(end).toMatchObject({ type: 'end', ok: false, error });
    if (!('retryable' in error)) expect((end as { error: object }).error).not.toHaveProperty('retryable');
  });

  it('reports a lost conversation only by its message together with zero turns [S1.10]', () => {
    const gone = { type: 'result', subtype: 'error_during_execution', is_error: true, num_turns: 0 };
    const errors = ['No conversation found with session ID: x'];
    expect(readClaudeLine(line({ ...gone, errors }))).toMatchObject([{ ok: false, stale: true }]);
    expect(readClaudeLine(line({ ...gone, errors, num_turns: 2 }))[0]).not.toHaveProperty('stale');
    expect(readClaudeLine(line({ ...gone, errors: ['It broke.'] }))[0]).not.toHaveProperty('stale');
    // A built-in command has no turns either.
    const command = { type: 'result', subtype: 'success', is_error: false, num_turns: 0, result: 'Cost: 0' };
    expect(readClaudeLine(line(command))).toMatchObject([{ ok: true }]);
  });

  it('is ignored if it is noise or has an unknown type', () => {
    for (const noise of [
      '',
      'Warning',
      '[]',
      '7',
      '{',
      '{"type":"result"',
      '{}',
      '{"type":"later"}',
      '{"type":null}',
    ])
      expect(readClaudeLine(noise)).toEqual([]);
  });
});

describe('a line of Codex', () => {
  it('contains the id of the thread or a message of the model [S2.13]', () => {
    expect(readCodexLine(line({ type: 'thread.started', thread_id: 't' }))).toEqual([
      { type: 'session', id: 't' },
    ]);
    const item = { id: 'i', type: 'agent_message', text: 'Hello.' };
    expect(readCodexLine(line({ type: 'item.completed', item }))).toEqual([
      { type: 'part', part: { type: 'text', text: 'Hello.' }, answer: 'i' },
    ]);
  });

  it('counts usage since the start of the thread [P14]', () => {
    const usage = { input_tokens: 300, cached_input_tokens: 100, output_tokens: 30 };
    expect(readCodexLine(line({ type: 'turn.completed', usage }))).toEqual([
      { type: 'end', ok: true, totalUsage: { inputTokens: 300, outputTokens: 30, cacheReadTokens: 100 } },
    ]);
  });

  it('reports a command as a call, and its output as the result', () => {
    const item = {
      id: 'i',
      type: 'command_execution',
      command: 'ls',
      aggregated_output: '',
      exit_code: null,
    };
    expect(readCodexLine(line({ type: 'item.started', item }))).toMatchObject([
      { type: 'part', part: { toolName: 'command_execution', arguments: { command: 'ls' } } },
      { type: 'answered' },
    ]);
    const over = { ...item, aggregated_output: 'no', exit_code: 2, status: 'failed' };
    expect(readCodexLine(line({ type: 'item.completed', item: over })).at(-1)).toEqual({
      type: 'result',
      callId: 'i',
      text: '[exit 2]\nno',
      isError: true,
    });
  });

  it.each([
    ['unexpected status 401 Unauthorized: bad key', { kind: 'auth', status: 401 }],
    [
      'exceeded retry limit, last status: 429 Too Many Requests',
      { kind: 'rate_limit', status: 429, retryable: true },
    ],
    ["We're currently experiencing high demand", { kind: 'agent', retryable: true }],
    ['Selected model is at capacity. Please try', { kind: 'rate_limit', retryable: true }],
    ['Quota exceeded. Check your plan', { kind: 'rate_limit' }],
    ['ran out of room in the context window', { kind: 'invalid', code: 'context_full' }],
    ['{"error":{"message":"bad schema","type":"invalid_request_error"}}', { kind: 'invalid' }],
  ])('classifies the failure %s', (message, error) => {
    const [end] = readCodexLine(line({ type: 'turn.failed', error: { message } }));
    expect(end).toMatchObject({ ok: false, error });
    if (!('retryable' in error)) expect((end as { error: object }).error).not.toHaveProperty('retryable');
  });

  it('is a notice, not a failure, if a request is retried', () => {
    expect(readCodexLine(line({ type: 'error', message: 'Reconnecting... 1/5' }))).toEqual([
      { type: 'notice', text: 'Reconnecting... 1/5' },
    ]);
  });
});

describe('usage and cost of one job [P14]', () => {
  it('are the differences from the totals before the job', () => {
    const total = { inputTokens: 300, outputTokens: 30 };
    expect(usageSince(total, { usage: { inputTokens: 200, outputTokens: 20 } }, true)).toEqual({
      inputTokens: 100,
      outputTokens: 10,
    });
    expect(usdSince(0.5, { usd: 0.25 }, true)).toBe(0.25);
  });

  it('are the full totals if the conversation started with the job or was restarted', () => {
    const total = { inputTokens: 100, outputTokens: 10 };
    expect(usageSince(total, { usage: { inputTokens: 200, outputTokens: 20 } }, false)).toEqual(total);
    expect(usageSince(total, { usage: { inputTokens: 200, outputTokens: 20 } }, true)).toEqual(total);
    expect(usdSince(0.1, { usd: 0.25 }, true)).toBe(0.1);
  });

  it('are unknown or estimated if the totals before the job are unknown', () => {
    expect(usdSince(0.5, {}, true)).toBeUndefined();
    expect(usageSince({ inputTokens: 1, outputTokens: 1 }, {}, true).estimated).toBe(true);
  });
});

describe('lines', () => {
  it('are complete wherever the bytes are split', () => {
    const text = 'eins\nzwölf 🙂\n\nlast';
    for (let size = 1; size < 9; size += 1) {
      const lines: string[] = [];
      const reader = new LineReader((one) => lines.push(one));
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      reader.end();
      expect(lines).toEqual(['eins', 'zwölf 🙂', 'last']);
    }
  });

  it('of more than 16 MiB are dropped except for their head [P11]', () => {
    const lines: string[] = [];
    const dropped: string[] = [];
    const reader = new LineReader(
      (one) => lines.push(one),
      (head) => dropped.push(head),
    );
    const chunk = Buffer.alloc(1_048_576, 'x');
    for (let count = 0; count < 20; count += 1) reader.push(chunk);
    reader.push(Buffer.from('\nnext\n'));
    expect(lines).toEqual(['next']);
    expect(dropped).toEqual(['x'.repeat(256)]);
  });
});

describe('the text of a failure', () => {
  it('determines the kind only if there is no status [S1.11]', () => {
    expect(failureOf({ message: 'overloaded', status: 400 }, 'x')).toMatchObject({ kind: 'invalid' });
    expect(failureOf({ message: 'api_error: something' }, 'x')).toMatchObject({
      kind: 'agent',
      retryable: true,
    });
    expect(failureOf({ message: '' }, 'x').message).toBe('The program failed without an error message.');
  });
});
