import { agentResponse, buildEngine, claudeCode, delegatedHarness } from '@cobbler/delegate';
import { ClaudeCodeAgent } from '@cobbler/delegate/claude-code-agent';
import { describe, expect, it } from 'vitest';
import type { Backend, BackendProcess, BackendRequest, BackendResult } from '../src/backend/backend.ts';
import type { CliProcess } from '../src/cli/cli-process.ts';
import { TaskBudget } from '../src/cli/task-budget.ts';
import type { End } from '../src/events/backend-event.ts';
import { delegatedLoop } from '../src/harness/delegated-loop.ts';
import { ends, fakeSdk, init, overloaded } from './fake-sdk.ts';
import { fakePrograms, session } from './rig.ts';

const tokens = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

/** Returns the value of a flag in the arguments that a program was started with. */
function flag(output: string, name: string): string | undefined {
  const argv = JSON.parse(output) as string[];
  return argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined;
}

describe('a retried job [P14]', () => {
  it('passes the remaining limits to the second attempt', async () => {
    const { workspace, options } = fakePrograms();
    const caps = { maxUsd: 0.5, maxTurns: 3 };
    const result = await claudeCode(options).run({
      prompt: 'fault spends-once',
      workingDir: workspace,
      ...caps,
    });
    expect(Number(flag(result.output, '--max-budget-usd'))).toBeCloseTo(0.2, 9);
    expect(flag(result.output, '--max-turns')).toBe('2');
  });

  it('reports the cost of all attempts', async () => {
    const { workspace, options } = fakePrograms();
    const result = await claudeCode(options).run({ prompt: 'fault spends-once', workingDir: workspace });
    expect(result).toMatchObject({ status: 'completed', attempts: 2, turns: 2 });
    expect(result.usd).toBeCloseTo(0.5, 9);
    expect(result.usage).toMatchObject(tokens(40, 2));
    expect(result.wasted).toMatchObject(tokens(900, 100));
  });

  it.each([
    ['dollars', { maxUsd: 0.3 }],
    ['tokens', { maxTokens: 1000 }],
    ['turns', { maxTurns: 1 }],
  ])('gets no further attempt if its %s are used up', async (_what, caps) => {
    const { workspace, options } = fakePrograms();
    const result = await claudeCode(options).run({
      prompt: 'fault spends-once',
      workingDir: workspace,
      ...caps,
    });
    expect(result).toMatchObject({ status: 'failed', attempts: 1, error: { kind: 'rate_limit' } });
    expect([result.usd, result.usage]).toMatchObject([0.3, tokens(900, 100)]);
  });

  it('ends if its attempts together exceed the token limit', async () => {
    const { workspace, options } = fakePrograms();
    const request = { prompt: 'fault spends-once', workingDir: workspace, maxTokens: 1041 };
    const result = await claudeCode(options).run(request);
    expect(result).toMatchObject({ status: 'failed', attempts: 2, error: { code: 'tokens' } });
    expect(result.usd).toBeCloseTo(0.5, 9);
  });

  it('gets no further attempt if its time limit ends before the next one', async () => {
    const { workspace, options } = fakePrograms();
    const backend = claudeCode({ ...options, retryMs: 120_000, timeoutMs: 60_000 });
    const result = await backend.run({ prompt: 'fault spends-once', workingDir: workspace });
    expect(result).toMatchObject({ status: 'failed', attempts: 1, usd: 0.3 });
  });

  it('reports the cost of all attempts if each one fails', async () => {
    const { workspace, options } = fakePrograms();
    const result = await claudeCode(options).run({ prompt: 'fault spends-always', workingDir: workspace });
    expect(result).toMatchObject({ status: 'failed', attempts: 2, wasted: tokens(900, 100) });
    expect([result.usd, result.usage]).toMatchObject([0.6, tokens(900, 100)]);
  });

  it('reports the cost of the first attempt if it is cancelled before the second', async () => {
    const { workspace, options } = fakePrograms();
    const process = claudeCode({ ...options, retryMs: 600_000, timeoutMs: 3_600_000 }).start(
      { prompt: 'fault spends-once', workingDir: workspace },
      { onEvent: ({ type }) => type === 'withdrawn' && process.stop() },
    );
    expect(await process.result).toMatchObject({
      status: 'cancelled',
      usd: 0.3,
      usage: tokens(0, 0),
      wasted: tokens(900, 100),
    });
  });

  it('reports the cost of the first attempt if it times out', async () => {
    const { workspace, options } = fakePrograms();
    const backend = claudeCode({ ...options, timeoutMs: 1500 });
    const result = await backend.run({ prompt: 'fault spends-and-hangs', workingDir: workspace });
    expect(result).toMatchObject({ status: 'timeout', usd: 0.3, wasted: tokens(900, 100) });
  });
});

describe('the budget of a job that continues a conversation [P14]', () => {
  const request: BackendRequest = { prompt: '', workingDir: '/', resumeId: 'c', before: { usd: 1 } };
  const over = (totalUsd: number): CliProcess => {
    const end: End = { type: 'end', ok: false, totalUsd };
    const ended = {
      cause: 'exit',
      exitCode: 1,
      signal: null,
      toolCalls: 0,
      lastText: '',
      denied: [],
    } as const;
    return { ...ended, sessionId: 'c', stdout: '', stderr: '', end };
  };

  it.each([
    ['counts the failed attempt', 1.5],
    ['does not count it', 1.2],
  ])('counts each attempt once if the program %s', (_what, total) => {
    const account = new TaskBudget(request, true);
    account.close(over(1.3), account.costOf(over(1.3), request));
    const second = account.costOf(over(total), request);
    expect(second.usd).toBeCloseTo(0.2, 9);
    expect(account.usdWith(second)).toBeCloseTo(0.5, 9);
  });
});

describe('a delegated run [P14]', () => {
  it('reports the cost of all attempts, including failed ones', async () => {
    const { workspace, options } = fakePrograms();
    const open = () => delegatedHarness({ backend: claudeCode(options), workingDir: workspace });
    const [first, second] = [open(), open()];
    const { metrics } = await first.prompt('fault spends-once').result;
    expect(metrics.usd).toBeCloseTo(0.5, 9);
    expect([metrics.totalInputTokens, metrics.wasted]).toMatchObject([40, tokens(900, 100)]);
    const failed = await second.prompt('fault spends-always').result;
    expect([failed.status, failed.error?.kind]).toEqual(['failed', 'rate_limit']);
    expect(failed.metrics.usd).toBeCloseTo(0.6, 9);
    await Promise.all([first.close(), second.close()]);
  });

  it('reports the cost of the first attempt if it is cancelled before the second', async () => {
    const { workspace, options } = fakePrograms();
    const backend = claudeCode({ ...options, retryMs: 600_000, timeoutMs: 3_600_000 });
    const harness = delegatedHarness({ backend, workingDir: workspace });
    const run = harness.prompt('fault spends-once');
    for await (const event of run) if (event.type === 'retry') harness.cancel();
    const { status, metrics } = await run;
    expect(status).toBe('cancelled');
    expect(metrics.usd).toBeCloseTo(0.3, 9);
    await harness.close();
  });

  it('adds the late cost of a cancelled run to the next run', async () => {
    const held = Promise.withResolvers<void>();
    const answers = [
      () => held.promise.then(() => agentResponse({ content: 'Late.', cost: 0.3 })),
      () => Promise.resolve(agentResponse({ content: 'On.', cost: 0.2 })),
    ];
    const engine = buildEngine({
      execute: () => answers.shift()?.() ?? Promise.reject(new Error('over')),
      cancel: async () => held.resolve(),
      shutdown: async () => {},
    });
    const run = engine.prompt('One.');
    for await (const event of run) if (event.type === 'status') break;
    engine.cancel();
    expect((await run).status).toBe('cancelled');
    const { text, metrics } = await engine.prompt('Two.').result;
    expect(text).toBe('On.');
    expect(metrics.usd).toBeCloseTo(0.5, 9);
    await engine.close();
  });
});

describe('the limits of a delegated run [P14]', () => {
  it('apply to all its jobs together: the next job gets the remainder', async () => {
    const said: BackendRequest[] = [];
    const backend = scripted(said);
    const loop = delegatedLoop({ backend, workingDir: '/', limits: { usd: 1, tokens: 1000, turns: 5 } });
    const { signal } = new AbortController();
    const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
    const one = await loop.agent.run({ messages: [user('One.')], tools: [] }, { signal });
    await loop.agent.run({ messages: [user('One.'), one.message, user('Two.')], tools: [] }, { signal });
    expect(said.map(({ maxUsd, maxTokens, maxTurns }) => [maxUsd, maxTokens, maxTurns])).toEqual([
      [1, 1000, 5],
      [0.75, 900, 4],
    ]);
    await loop.close();
  });
});

/** Returns a backend whose jobs each cost 0.25 US dollars and 100 tokens. */
function scripted(said: BackendRequest[]): Backend {
  const result: BackendResult = {
    status: 'completed',
    output: 'Done.',
    exitCode: 0,
    usage: tokens(90, 10),
    usd: 0.25,
    totals: {},
    turns: 1,
    toolCalls: 0,
    denials: [],
    contextLost: false,
    attempts: 1,
    wasted: tokens(0, 0),
    durationMs: 1,
  };
  const start = (request: BackendRequest): BackendProcess => {
    said.push(request);
    return { result: Promise.resolve(result), stop: () => {}, decide: () => {}, steer: () => false };
  };
  return {
    name: 'scripted',
    capabilities: { tools: false, gate: false, steer: true, fork: false, deltas: false },
    tellsCost: true,
    problem: () => undefined,
    run: (request) => start(request).result,
    start,
  };
}

describe('ClaudeCodeAgent [P14]', () => {
  it('reports the cost of all attempts, and gives the next one the remaining turns', async () => {
    const answered = { type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: 'Half' }] } };
    const busy = { ...overloaded, total_cost_usd: 0.3, usage: { input_tokens: 900, output_tokens: 100 } };
    const done = ends({ total_cost_usd: 0.5, usage: { input_tokens: 40, output_tokens: 2 } });
    const sdk = fakeSdk([init(), answered, busy], [init(), done]);
    const agent = new ClaudeCodeAgent({ sandbox: 'off', sdk, env: {}, retryMs: 1, maxTurns: 3 });
    const response = await agent.execute('Go.', session({ claudeSessionId: 'c-1' }));
    expect(response.cost).toBeCloseTo(0.5, 9);
    expect(response.usage).toMatchObject(tokens(940, 102));
    expect(sdk.asked.map(({ options }) => options.maxTurns)).toEqual([3, 2]);
  });

  it('does not retry if its turns are used up', async () => {
    const answered = { type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: 'Half' }] } };
    const sdk = fakeSdk([init(), answered, overloaded], [init(), ends()]);
    const agent = new ClaudeCodeAgent({ sandbox: 'off', sdk, env: {}, retryMs: 1, maxTurns: 1 });
    expect((await agent.execute('Go.', session())).isError).toBe(true);
    expect(sdk.asked).toHaveLength(1);
  });
});
