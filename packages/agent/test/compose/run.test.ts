import { describe, expect, it } from 'vitest';
import { firstOf, summarize } from '../../src/context/index.ts';
import type { Event } from '../../src/events/event.ts';
import type { Agent } from '../../src/interfaces/agent.ts';
import type { Pricing } from '../../src/interfaces/limits.ts';
import { Executor } from '../../src/loop/executor.ts';
import { createAgent } from '../../src/provider/create-agent.ts';
import { fallback, route } from '../../src/run/compose/index.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { readCosts } from '../../src/store/read-costs.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { scriptTesting } from '../../src/testing/script-testing.ts';
import { scriptCapabilities, scriptWire } from '../../src/testing/script-wire.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, textResponse } from '../../src/testing/scripted-model.ts';
import { handlerTransport } from '../../src/testing/service/handler-transport.ts';
import type { MockReply } from '../../src/testing/service/play.ts';
import { failsWith, replies } from '../../src/testing/service/play.ts';
import { serveReply } from '../../src/testing/service/player.ts';
import type { ScriptBlock } from '../../src/testing/service/provider-testing.ts';
import { scriptResponse } from '../../src/testing/service/script.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';
import { busy, fails, member, tokens } from './members.ts';

/** US dollars per million tokens, by provider. */
const rates: Readonly<Record<string, number>> = { cheap: 1, dear: 100, middling: 10 };

const pricing: Pricing = (provider, model) => {
  const input = model === `${provider}-1` ? rates[provider] : undefined;
  return input === undefined ? undefined : { input, output: input };
};

async function play(agent: Agent, options: Partial<ExecutorOptions> = {}) {
  const events: Event[] = [];
  const executor = new Executor({ agent, pricing, ...options });
  const onEvent = (event: object) => 'seq' in event && events.push(event as Event);
  const result = await executor.run('Hello.', { onEvent });
  const responses = events.filter((event) => event.type === 'assistant' || event.type === 'ask_failed');
  return { result, events, responses };
}

const million = (share: number) => tokens(share * 1_000_000);

describe('the log of a run with a fallback', () => {
  it('names the provider that responded and the models that failed, each at its own price', async () => {
    const agent = fallback([
      member('cheap', [fails({ ...busy, wasted: million(0.5) })]),
      member('dear', [
        textResponse('Hi.', { model: 'dear-1-x', usage: million(0.1), wasted: million(0.01) }),
      ]),
    ]);
    const { result, responses } = await play(agent);
    const [{ usd, ...response } = {} as (typeof responses)[0] & { usd?: number }] = responses;
    expect(response).toMatchObject({
      type: 'assistant',
      provider: 'dear',
      model: 'dear-1-x',
      wasted: million(0.51),
      tried: [{ provider: 'cheap', model: 'cheap-1', code: 'busy', wasted: million(0.5) }],
    });
    // 0.5 million at $1 and 0.11 million at $100.
    expect(usd).toBeCloseTo(11.5, 9);
    expect(result.metrics.usd).toBeCloseTo(11.5, 9);
  });

  it('prices a failure by the models that failed', async () => {
    const agent = fallback([
      member('cheap', [fails({ ...busy, wasted: million(1) })]),
      member('dear', [fails({ ...busy, code: 'broken', wasted: million(0.1) })]),
    ]);
    const { result, responses } = await play(agent);
    expect(responses).toMatchObject([
      { type: 'ask_failed', error: { code: 'broken', wasted: million(1.1) } },
    ]);
    expect(result.metrics.usd).toBeCloseTo(11, 9);
    expect(result.error?.tried?.map(({ provider }) => provider)).toEqual(['cheap', 'dear']);
  });

  it('has no price if that of a model that used tokens is unknown [B3]', async () => {
    const agent = fallback([
      member('unknown', [fails({ ...busy, wasted: million(1) })]),
      member('dear', [textResponse('Hi.', { model: 'dear-1' })]),
    ]);
    expect((await play(agent)).result.metrics.usd).toBeUndefined();
  });

  it('counts the cost of a summary by the models that were asked for it', async () => {
    const agent = fallback([
      member('cheap', [fails({ ...busy, wasted: million(1) })]),
      member('dear', [textResponse('A summary.', { model: 'dear-1', usage: million(0.1) })]),
    ]);
    const history = Array.from({ length: 4 }, (_, at) => userMessage(`Message ${at}.`));
    const executor = new Executor({
      agent: member('cheap', [textResponse('Hi.', { model: 'cheap-1', usage: tokens(0) })]),
      pricing,
      context: { maxTokens: 1, compact: summarize(agent, { keep: 1 }) },
    });
    const { metrics } = await executor.run([...history, userMessage('Go.')]);
    expect(metrics.usd).toBeCloseTo(11, 9);
  });
});

describe('the costs by model', () => {
  const broken = fails({ ...busy, attempts: 1, wasted: million(0.5) });
  const answer = (share: number) => textResponse('Hi.', { model: 'dear-1-x', usage: million(share) });

  const tooManyCalls = calls(Array<string>(257).fill('look'), { model: 'dear-1-x', usage: million(0.1) });

  async function costsOf(options: ExecutorOptions, prompt: string | Message[] = 'Hello.') {
    const store = memoryStore();
    await new Executor({ pricing, store, ...options }).run(prompt).result;
    const rows = await readCosts(store, { by: 'model' });
    return rows.map(({ key, requests, usd }) => [key, requests, Number(usd.toFixed(9))]);
  }

  it('count each request for the model that it was sent to [P14]', async () => {
    const agents = [member('cheap', [broken]), member('dear', [answer(0.1)])];
    const rows = [
      ['dear-1-x', 1, 10],
      ['cheap-1', 1, 0.5],
    ];
    expect(await costsOf({ agent: fallback(agents) })).toEqual(rows);
  });

  it('count a request that failed for the model that was asked', async () => {
    const alone = member('dear', [fails({ ...busy, attempts: 1, wasted: million(0.1) })]);
    expect(await costsOf({ agent: alone })).toEqual([['dear-1', 1, 10]]);
    const other = member('dear', [fails({ ...busy, attempts: 1, wasted: million(0.1) })]);
    const agent = route({ cheap: member('cheap', ['Hi.']), other }, () => 'other');
    expect(await costsOf({ agent })).toEqual([['dear-1', 1, 10]]);
    const all = [member('cheap', [broken]), member('middling', [broken])];
    expect(await costsOf({ agent: fallback(all) })).toEqual([
      ['middling-1', 1, 5],
      ['cheap-1', 1, 0.5],
    ]);
  });

  it('count a response that is discarded for the models that used it', async () => {
    const agents = (step: ModelStep) => fallback([member('cheap', [broken]), member('dear', [step])]);
    const rows = [
      ['dear-1', 1, 10],
      ['cheap-1', 1, 0.5],
    ];
    const refuse = () => {
      throw new Error('No.');
    };
    const hooks = [{ name: 'strict', afterResponse: refuse }];
    expect(await costsOf({ agent: agents(answer(0.1)), hooks })).toEqual(rows);
    expect(await costsOf({ agent: agents(tooManyCalls) })).toEqual(rows);
  });

  it('count a response of a sub-agent that is discarded once', async () => {
    const child = new Executor({ pricing, agent: member('dear', [tooManyCalls]) });
    const idle = { usage: tokens(0), model: 'idle-1' };
    const call = calls([{ name: 'helper', arguments: { prompt: 'Go.' } }], idle);
    const tools = [child.asTool({ name: 'helper', description: 'Helps.' })];
    expect(await costsOf({ agent: member('idle', [call, textResponse('Done.', idle)]), tools })).toEqual([
      ['dear-1-x', 1, 10],
      ['idle-1', 2, 0],
    ]);
  });

  it('count the requests of a summary for the models that were asked', async () => {
    const history = Array.from({ length: 4 }, (_, at) => userMessage(`Message ${at}.`));
    const first = fallback([member('cheap', [broken]), member('middling', [broken])]);
    const compact = firstOf(
      summarize(first, { keep: 1 }),
      summarize(member('dear', [answer(0.1)]), { keep: 1 }),
    );
    const agent = member('idle', [textResponse('Hi.', { model: 'idle-1', usage: tokens(0) })]);
    const prompt = [...history, userMessage('Go.')];
    expect(await costsOf({ agent, context: { maxTokens: 1, compact } }, prompt)).toEqual([
      ['dear-1-x', 1, 10],
      ['middling-1', 1, 5],
      ['cheap-1', 1, 0.5],
      ['idle-1', 1, 0],
    ]);
    const failing = summarize(fallback([member('cheap', [broken]), member('dear', [broken])]), { keep: 1 });
    expect(await costsOf({ agent, context: { maxTokens: 1, compact: failing } }, prompt)).toEqual([
      ['dear-1', 1, 50],
      ['cheap-1', 1, 0.5],
    ]);
  });

  it('count the requests of a sub-agent that keeps its own log', async () => {
    const child = new Executor({
      ...{ pricing, store: memoryStore() },
      agent: fallback([member('cheap', [broken]), member('dear', [answer(0.1)])]),
    });
    const idle = { usage: tokens(0), model: 'idle-1' };
    const call = calls([{ name: 'helper', arguments: { prompt: 'Go.' } }], idle);
    const agent = member('idle', [call, textResponse('Done.', idle)]);
    const tools = [child.asTool({ name: 'helper', description: 'Helps.' })];
    expect(await costsOf({ agent, tools })).toEqual([
      ['dear-1-x', 1, 10],
      ['cheap-1', 1, 0.5],
      ['idle-1', 2, 0],
    ]);
  });
});

describe('a limit on money', () => {
  it('reserves the price of the dearest model [B1]', async () => {
    const cheap = member('cheap', ['Hi.']);
    const agent = fallback([cheap, member('dear', ['Hi.']), member('middling', ['Hi.'])]);
    const request = { maxTokens: 1_000 };
    const { result } = await play(agent, { request, limits: { usd: 0.02 } });
    expect([result.status, result.limit]).toEqual(['limit', 'usd']);
    expect((await play(cheap, { request, limits: { usd: 0.02 } })).result.status).toBe('complete');
  });

  it('does not send a request that may go to a model whose price is unknown [B3]', async () => {
    const agent = fallback([member('cheap', ['Hi.']), member('unknown', ['Hi.'])]);
    const { result } = await play(agent, { limits: { usd: 1 } });
    expect(result.error).toMatchObject({ code: 'unpriced', message: expect.stringContaining('unknown-1') });
  });

  it('stops before the next model if the failed one used it up [B1]', async () => {
    const second = member('dear', ['Hi.']);
    const agent = fallback([member('dear', [fails({ ...busy, wasted: tokens(900) })]), second]);
    const { result } = await play(agent, { request: { maxTokens: 100 }, limits: { usd: 0.1 } });
    expect([result.error?.code, second.requests.length]).toEqual(['busy', 0]);
  });
});

/** Creates an agent over the scripted wire that records the bodies of its requests. */
function service(provider: string, script: readonly MockReply[], bodies: string[]): Agent {
  let at = 0;
  const transport = handlerTransport(async (request) => {
    bodies.push(`${provider} ${await request.text()}`);
    const reply = script[at++] as MockReply;
    return serveReply(reply, { testing: scriptTesting, secret: '', signal: request.signal });
  });
  const wire = scriptWire({ baseURL: 'http://script.invalid', apiKey: 'no-key' }, provider);
  const model = `${provider}-1`;
  return createAgent(wire, { model, capabilities: scriptCapabilities, transport, retry: { retries: 0 } });
}

describe('the history of a run with a fallback', () => {
  it('goes to each provider with its own metadata only [P19]', async () => {
    const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } } as const;
    const thought = (by: string): ScriptBlock[] => [
      { type: 'reasoning', text: `Thought of ${by}.`, seal: `signature of ${by}` },
    ];
    const call = (id: string): ScriptBlock => ({ type: 'call', id, name: 'look', input: '{}' });
    const answer = (blocks: ScriptBlock[]) => replies(scriptResponse(blocks, { model: 'any' }));
    const bodies: string[] = [];
    const one = service(
      'one',
      [
        answer([...thought('one'), call('a')]),
        failsWith({ kind: 'busy', message: 'Busy.' }),
        answer([{ type: 'text', text: 'Done.' }]),
      ],
      bodies,
    );
    const two = service('two', [answer([...thought('two'), call('b')])], bodies);
    const agent = fallback([one, two], { runtime: fakeRuntime(), coolDownMs: 0 });
    const tools = [{ ...look, execute: () => 'seen' }];
    const { result } = await play(agent, { tools });
    expect(result.status).toBe('complete');
    const seen = bodies.map((body) => [
      body.slice(0, 3),
      body.includes('signature of one'),
      body.includes('signature of two'),
    ]);
    expect(seen).toEqual([
      ['one', false, false],
      ['one', true, false],
      ['two', false, false],
      ['one', true, false],
    ]);
  });
});

describe('a run that stops', () => {
  it('asks no other agent after its time limit [P2]', async () => {
    const runtime = fakeRuntime();
    const second = member('dear', ['Hi.']);
    const first = member('cheap', [
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    ]);
    const executor = new Executor({ agent: fallback([first, second]), runtime, limits: { ms: 1_000 } });
    const run = executor.run('Hello.');
    await runtime.advance(2_000);
    expect([(await run.result).status, second.requests.length]).toEqual(['timeout', 0]);
  });
});
