import { describe, expect, expectTypeOf, it } from 'vitest';
import { summarize } from '../src/context/summary.ts';
import * as events from '../src/events/index.ts';
import type {
  Agent,
  ErrorKind,
  ExecutionMetrics,
  Message,
  ModelResponse,
  StopReason,
  Tool,
  ToolCall,
  Usage,
} from '../src/index.ts';
import * as kit from '../src/index.ts';
import { AgentError, Executor, userMessage } from '../src/index.ts';
import type { Role } from '../src/provider/index.ts';
import { toFlat } from '../src/provider/index.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import { outline, resultTexts } from '../src/testing/conversation.ts';
import { probeTools } from '../src/testing/probe-tools.ts';
import { RunFixture } from '../src/testing/run-fixture.ts';
import {
  calls,
  failedResponse,
  noResponse,
  scriptedModel,
  scriptedUsage,
  textResponse,
} from '../src/testing/scripted-model.ts';
import { backoff, isErrorKind } from '../src/values/index.ts';
import { streams } from './support/fake-server.ts';
import { textAnswer } from './support/plain-wire.ts';
import { rig } from './support/provider-rig.ts';

const stage = (): RunFixture => new RunFixture(() => memoryStore());

describe('agent, tool, response [R1, R2, R3]', () => {
  it('an agent is any object whose run method answers one request; it has no loop [S0.1]', async () => {
    const mine: Agent = {
      provider: 'mine',
      model: 'small',
      capabilities: scriptedModel([]).capabilities,
      run: () => Promise.resolve(calls(['one'])),
    };
    const { requests, response } = await stage()
      .play({ agent: mine, limits: { turns: 1 } })
      .then(({ response, metrics }) => ({ response, requests: metrics.attempts }));
    expect([requests, response?.toolCalls.length]).toEqual([1, 1]);
    const { ask, server } = rig([streams(textAnswer('Hi')), streams(textAnswer('Again'))]);
    expect((await ask()).content).toBe('Hi');
    expect(server.exchanges).toHaveLength(1);
    expectTypeOf<Agent['run']>().returns.toEqualTypeOf<Promise<ModelResponse>>();
  });

  it('a request contains messages, tools and configuration [S0.2]', async () => {
    const agent = scriptedModel([textResponse('Done.')]);
    const { tool } = probeTools();
    await stage().play({ agent, tools: [tool('one')], request: { maxTokens: 7 } }, 'Hello.');
    expect(agent.requests[0]).toMatchObject({
      messages: [userMessage('Hello.')],
      tools: [{ name: 'one' }],
      config: { maxTokens: 7 },
    });
  });

  it.each([
    ['the request wins', 300, 300],
    ['0 uses the default of the agent', 0, 50],
    ['an absent value uses the default of the agent', undefined, 50],
  ])('maxTokens: %s [S0.3]', async (_name, maxTokens, sent) => {
    const { ask, server } = rig([streams(textAnswer('Hi'))], { maxTokens: 50 });
    await ask({ config: maxTokens === undefined ? {} : { maxTokens } });
    expect(JSON.parse(server.at(0).text)).toMatchObject({ maxTokens: sent });
  });

  it.each([
    ['the request wins', 0, 0],
    ['-1 uses the default of the agent', -1, 0.5],
    ['an absent value uses the default of the agent', undefined, 0.5],
  ])('temperature: %s [S0.4]', async (_name, temperature, sent) => {
    const { ask, server } = rig([streams(textAnswer('Hi'))], { temperature: 0.5 });
    await ask({ config: temperature === undefined ? {} : { temperature } });
    expect(JSON.parse(server.at(0).text)).toMatchObject({ temperature: sent });
  });

  it('a plain object with name, description, parameters and execute is a tool [S0.5]', async () => {
    const seen: unknown[] = [];
    const tool: Tool = {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
      execute(args, { signal }) {
        seen.push(args, signal instanceof AbortSignal);
        return Promise.resolve({ lines: 3 });
      },
    };
    const agent = scriptedModel([
      calls([{ name: 'read_file', arguments: { path: 'a.txt' } }]),
      textResponse('Done.'),
    ]);
    const result = await stage().play({ agent, tools: [tool] });
    expect(seen).toEqual([{ path: 'a.txt' }, true]);
    expect(resultTexts(result.messages)).toEqual(['{"lines":3}']);
  });

  it('a response has separate content, tool calls, usage and stop reason [S0.6]', async () => {
    const { response } = await stage().play({ agent: scriptedModel([textResponse('Words.')]) });
    expect(response).toMatchObject({
      content: 'Words.',
      toolCalls: [],
      usage: scriptedUsage,
      stopReason: 'complete',
    });
    expectTypeOf<ModelResponse>().toHaveProperty('content').toEqualTypeOf<string>();
    expectTypeOf<ModelResponse>().toHaveProperty('usage').toEqualTypeOf<Usage>();
  });

  it('a tool call has an id, a tool name and arguments [S0.7]', () => {
    const { toolCalls } = calls([{ name: 'one', id: 'x', arguments: { a: 1 } }]);
    expect(toolCalls).toMatchObject([{ id: 'x', toolName: 'one', arguments: { a: 1 } }]);
    expectTypeOf<ToolCall['arguments']>().toEqualTypeOf<Record<string, unknown>>();
  });

  it('usage is exactly what the provider reports [S0.8]', async () => {
    const usage = { inputTokens: 12_345, outputTokens: 6, cacheReadTokens: 12_000 };
    const result = await stage().play({ agent: scriptedModel([textResponse('Words.', { usage })]) });
    expect(result.response?.usage).toEqual(usage);
    expect(result.metrics).toMatchObject({ totalInputTokens: 12_345, totalOutputTokens: 6 });
  });

  it('the stop reasons are the three of the specification and four more [S0.9]', () => {
    expectTypeOf<'complete' | 'tool_use' | 'max_tokens'>().toExtend<StopReason>();
    expectTypeOf<Exclude<StopReason, 'complete' | 'tool_use' | 'max_tokens'>>().toEqualTypeOf<
      'refusal' | 'pause' | 'context_full' | 'unknown'
    >();
  });
});

describe('the conversation loop [R4]', () => {
  it('continues while there are tool calls and ends without them [S0.10]', async () => {
    const agent = scriptedModel([
      calls(['one']),
      calls(['one']),
      textResponse('Done.'),
      textResponse('Never asked.'),
    ]);
    const result = await stage().play({ agent, tools: [probeTools().tool('one')] });
    expect(agent.requests).toHaveLength(3);
    expect(result.text).toBe('Done.');
  });

  it('sends a request at the start, and again when the results are ready [S0.11]', async () => {
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    await stage().play({ agent, tools: [probeTools().tool('one')] });
    expect(agent.requests.map(({ messages }) => messages.at(-1)?.role)).toEqual(['user', 'tool_result']);
  });

  it('executes each tool and collects every result [S0.12]', async () => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one', 'two', 'one']), textResponse('Done.')]);
    const result = await stage().play({ agent, tools: [tool('one'), tool('two')] });
    expect(names).toEqual(['one', 'two', 'one']);
    expect(resultTexts(result.messages)).toEqual(['one done', 'two done', 'one done']);
  });

  it('returns the final response when the model completes without calls [S0.13]', async () => {
    const answer = textResponse('All done.');
    const result = await stage().play({ agent: scriptedModel([answer]) });
    expect(result.status).toBe('complete');
    expect(result.response).toEqual(answer);
    expect(result.unwrap()).toBe(result);
  });

  it('returns the error of a request to the caller [S0.14]', async () => {
    const error = new AgentError({ kind: 'network', message: 'The line is dead.', provider: 'puppet' });
    const result = await stage().play({ agent: scriptedModel([failedResponse(error)]) });
    expect(result.error).toMatchObject({ kind: 'network', message: 'The line is dead.', provider: 'puppet' });
    expect(() => result.unwrap()).toThrow('The line is dead.');
  });

  it('ends a run with a timeout error at its own deadline or that of the caller [S0.15, S0.23]', async () => {
    const own = await stage().play({ agent: scriptedModel([noResponse()]), limits: { ms: 1000 } });
    expect(own).toMatchObject({ status: 'timeout', error: { kind: 'timeout' } });
    const theirs = stage();
    const caller = new AbortController();
    const run = theirs.run({ agent: scriptedModel([noResponse()]) }, 'Go.', { signal: caller.signal });
    await theirs.advance(100);
    caller.abort(new DOMException('Too late.', 'TimeoutError'));
    expect(await theirs.until(run)).toMatchObject({ status: 'timeout', error: { kind: 'timeout' } });
  });

  it('sends the whole conversation with each request [S0.16]', async () => {
    const agent = scriptedModel([calls(['one']), calls(['two']), textResponse('Done.')]);
    const { tool } = probeTools();
    const result = await stage().play({ agent, tools: [tool('one'), tool('two')] }, 'First prompt.');
    expect(outline(agent.requests[2]?.messages ?? [])).toEqual([
      'user: First prompt.',
      'assistant: ',
      'tool_result: one done',
      'assistant: ',
      'tool_result: two done',
    ]);
    expect(result.messages.slice(0, 5)).toEqual(agent.requests[2]?.messages);
  });

  it('uses the roles user, assistant and tool_result; a result names its call [S0.17]', async () => {
    expectTypeOf<Role>().toEqualTypeOf<'user' | 'assistant' | 'tool_result'>();
    expectTypeOf<Message['role']>().toEqualTypeOf<Role>();
    const agent = scriptedModel([calls([{ name: 'one', id: 'call_7' }]), textResponse('Done.')]);
    const { messages } = await stage().play({ agent, tools: [probeTools().tool('one')] });
    expect(toFlat(messages)).toEqual([
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'call_7', toolName: 'one', arguments: {} }] },
      { role: 'tool_result', content: 'one done', toolCallId: 'call_7' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });
});

describe('cancellation and metrics [R6, R7]', () => {
  it('every asynchronous operation gets a signal that stops it [S0.22]', async () => {
    const theatre = stage();
    const told: Record<string, AbortSignal | undefined> = {};
    const never = (name: string, signal: AbortSignal | undefined) => {
      told[name] = signal;
      return new Promise<never>(() => {});
    };
    const { tool } = probeTools();
    const one = tool('one', { execute: (_args, { signal }) => never('tool', signal) });
    const asking = (name: string) => scriptedModel([(_request, { signal }) => never(name, signal)]);
    const runs = [
      theatre.run({ agent: asking('request') }),
      theatre.run({ agent: scriptedModel([calls(['one'])]), tools: [one] }),
      theatre.run({
        agent: scriptedModel([calls(['one'])]),
        tools: [one],
        gate: (_call, { signal }) => never('gate', signal),
      }),
      theatre.run({
        agent: scriptedModel([calls(['one'])]),
        tools: [tool('one')],
        context: {
          maxTokens: 1,
          compact: summarize((_messages, { signal }) => never('summary', signal), { keep: 1 }),
        },
      }),
    ];
    await theatre.advance(1000);
    const before = theatre.elapsed;
    for (const run of runs) run.cancel();
    for (const run of runs) expect((await theatre.until(run)).status).toBe('cancelled');
    expect(theatre.elapsed - before).toBeLessThanOrEqual(250);
    expect(Object.keys(told).sort()).toEqual(['gate', 'request', 'summary', 'tool']);
    expect(Object.values(told).every((signal) => signal?.aborted === true)).toBe(true);
  });

  it('the abort of a parent signal cancels the run and its tool [S0.23]', async () => {
    const theatre = stage();
    const parent = new AbortController();
    const { tool, runs } = probeTools();
    const one = tool('one', { execute: () => new Promise(() => {}) });
    const options = { agent: scriptedModel([calls(['one'])]), tools: [one] };
    const run = theatre.run(options, 'Go.', { signal: parent.signal });
    await theatre.advance(1000);
    parent.abort();
    expect((await theatre.until(run)).status).toBe('cancelled');
    expect(runs[0]?.context.signal.aborted).toBe(true);
  });

  it('the metrics add up all responses, each counted once [S0.24, P14]', async () => {
    const agent = scriptedModel([
      calls(['one'], { usage: { inputTokens: 10, outputTokens: 1 } }),
      calls(['one'], { usage: { inputTokens: 20, outputTokens: 2 } }),
      textResponse('Done.', { usage: { inputTokens: 30, outputTokens: 3 } }),
    ]);
    const { metrics } = await stage().play({ agent, tools: [probeTools().tool('one')] });
    expect(metrics).toMatchObject({ totalInputTokens: 60, totalOutputTokens: 6, invocations: 3 });
    expectTypeOf<
      Pick<ExecutionMetrics, 'totalInputTokens' | 'totalOutputTokens' | 'invocations'>
    >().toEqualTypeOf<{
      readonly totalInputTokens: number;
      readonly totalOutputTokens: number;
      readonly invocations: number;
    }>();
  });
});

describe('errors [R8]', () => {
  it('an AgentError has a kind, a message and an accessible cause [S0.25]', () => {
    const error = AgentError.from(Object.assign(new TypeError('no route'), { code: 'EHOSTDOWN' }), 'network');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'AgentError', kind: 'network', message: 'no route' });
    expect(error.cause).toEqual({ name: 'TypeError', message: 'no route', code: 'EHOSTDOWN' });
  });

  it('the error kinds are the six of the specification and three more [S0.26]', () => {
    const kinds: ErrorKind[] = [
      'agent',
      'tool',
      'timeout',
      'rate_limit',
      'network',
      'invalid',
      'auth',
      'aborted',
      'limit',
    ];
    expect(kinds.every(isErrorKind)).toBe(true);
    expect(['AGENT', 'other', '', 7, undefined].some(isErrorKind)).toBe(false);
    expectTypeOf<ErrorKind>().toEqualTypeOf<(typeof kinds)[number]>();
  });

  const retryPolicy: readonly (readonly [string, ErrorKind, boolean, number])[] = [
    ['a rate limit is retried after a delay', 'rate_limit', true, 2],
    ['a broken connection is retried', 'network', true, 2],
    ['a failing service is retried', 'agent', true, 2],
    ['a rejected key is fatal', 'auth', false, 1],
    ['a bad request is fatal', 'invalid', false, 1],
  ];

  it.each(retryPolicy)('by error kind: %s [S0.27]', async (_name, kind, again, requests) => {
    const statuses = { rate_limit: 429, network: 0, agent: 500, auth: 401, invalid: 400 } as Record<
      ErrorKind,
      number
    >;
    const failing: Parameters<typeof rig>[0][number] = (exchange) =>
      statuses[kind] === 0 ? exchange.cut() : exchange.head(statuses[kind], {}).write('no').end();
    const { agent, server, runtime } = rig([failing, streams(textAnswer('Hi'))]);
    const run = new Executor({ agent, runtime }).run('Go.');
    for (let moves = 0; moves < 20; moves += 1) await runtime.advance(500);
    const result = await run;
    expect(server.exchanges).toHaveLength(requests);
    expect(result.status).toBe(again ? 'complete' : 'failed');
    if (!again) expect(result.error?.kind).toBe(kind);
  });

  it('the delays between attempts double [S0.20]', () => {
    const pauses = [0, 1, 2].map((retry) => backoff({ baseMs: 500, maxMs: 1500 }, retry));
    expect(pauses).toEqual([500, 1000, 1500]);
  });

  it('a tool failure does not end the run: the model sees the error [S0.27]', async () => {
    const { tool } = probeTools();
    const bad = tool('bad', { execute: () => Promise.reject(new Error('broken')) });
    const agent = scriptedModel([calls(['bad', 'good']), textResponse('Done without it.')]);
    const result = await stage().play({ agent, tools: [bad, tool('good')] });
    expect(result.status).toBe('complete');
    expect(resultTexts(result.messages)).toEqual(['broken', 'good done']);
  });
});

describe('statelessness', () => {
  it('two runs of one executor share nothing [S0.31]', async () => {
    const theatre = stage();
    const agent = scriptedModel([calls(['one']), textResponse('One.'), textResponse('Two.')]);
    const executor = theatre.executor({ agent, tools: [probeTools().tool('one')] });
    const [first, second] = [
      await theatre.until(executor.run('First.')),
      await theatre.until(executor.run('Second.')),
    ];
    expect(outline(agent.requests[2]?.messages ?? [])).toEqual(['user: Second.']);
    expect(second.metrics).toMatchObject({ invocations: 1, toolCalls: 0 });
    expect(second.sessionId).not.toBe(first.sessionId);
  });
});

it('the main entry point exports what programs need', () => {
  expect(Object.keys(kit)).toEqual(
    expect.arrayContaining(['AgentError', 'Budget', 'Executor', 'defineTool', 'memoryStore']),
  );
  expect(Object.keys(events)).toEqual(expect.arrayContaining(['emptyState', 'fold', 'repairMessages']));
});
