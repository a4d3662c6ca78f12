import { describe, expect, it } from 'vitest';
import type { Event, Pricing, Store, Tool } from '../../src/index.ts';
import { AgentError, Budget, defineTool, Executor, memoryStore } from '../../src/index.ts';
import { readCosts } from '../../src/store/index.ts';
import { scriptedAgent } from '../../src/testing/index.ts';

const usage = { inputTokens: 1000, outputTokens: 200 };
const each = 0.01;
const pricing: Pricing = () => ({ input: 5, output: 25 });
const asks = (name: string) => ({ calls: [{ name, arguments: { prompt: 'Go.' } }], usage });
const says = { text: 'Done.', usage };

function tool(name: string, execute: Tool['execute']): Tool {
  return defineTool({ name, description: 'Works.', parameters: {}, execute });
}

/** Returns a sub-agent that calls the tools in order, and then responds. */
function subAgent(name: string, tools: readonly Tool[], store: Store = memoryStore()): Tool {
  const agent = scriptedAgent([...tools.map((one) => asks(one.name)), says]);
  return new Executor({ agent, tools, pricing, store }).asTool({ name, description: 'Works.' });
}

async function play(store: Store, tools: readonly Tool[], more: object = {}) {
  const agent = scriptedAgent([...tools.map((one) => asks(one.name)), says]);
  const run = new Executor({ agent, tools, pricing, store, ...more }).run('Go.', { sessionId: 'parent' });
  const result = await run.result;
  const events = await store.read('parent');
  return { result, spent: events.filter((event) => event.type === 'spent') };
}

const total = async (store: Store) =>
  (await readCosts(store, { by: 'session' })).reduce((sum, row) => sum + row.usd, 0);

describe('the log of a run', () => {
  it('records the requests of sub-agents on three levels once, and its metrics include them [P14]', async () => {
    const tree = subAgent('first', [subAgent('second', [subAgent('third', [])])]);
    const store = memoryStore();
    const { result, spent } = await play(store, [tree]);
    expect(spent.map(({ who, model, toolName, callId }) => [who, model, toolName, callId])).toEqual(
      Array(5).fill(['agent', 'scripted-model', 'first', 'call_0_0']),
    );
    expect(result.metrics).toMatchObject({ totalInputTokens: 7000, totalOutputTokens: 1400, invocations: 7 });
    expect(result.metrics.usd).toBeCloseTo(7 * each, 12);
    expect(await total(store)).toBeCloseTo(7 * each, 12);
  });

  it('names the session of a sub-agent in the same store, whose costs count there', async () => {
    const store = memoryStore();
    const { result, spent } = await play(store, [subAgent('helper', [], store)]);
    const [session = ''] = spent.map((event) => event.session ?? '');
    expect((await store.read(session)).map(({ type }) => type)).toContain('assistant');
    expect(result.metrics.usd).toBeCloseTo(3 * each, 12);
    expect(await total(store)).toBeCloseTo(3 * each, 12);
  });

  it('records amounts that a tool charges, also without a description [P14]', async () => {
    const charging = tool('charging', (_args, { budget }) => {
      budget.spend(40, 0.5);
      budget.reserve(100, 1).settle(60, 0);
      budget.reserve(100, 1).settle(0, 0);
      budget.spend(0, 0, null);
      return 'ok';
    });
    const { result, spent } = await play(memoryStore(), [charging]);
    const estimated = (inputTokens: number) => ({ inputTokens, outputTokens: 0, estimated: true });
    expect(spent.map(({ who, spent }) => [who, spent.usage, spent.usd])).toEqual([
      ['tool', estimated(40), 0.5],
      ['tool', estimated(60), undefined],
    ]);
    expect(result.metrics.usd).toBeUndefined();
  });

  it('rejects a description that is not one, and records nothing', async () => {
    const wrong = tool('wrong', (_args, { budget }) => budget.spend(1, 1, { who: 5 } as never));
    const { spent } = await play(memoryStore(), [wrong]);
    expect(spent).toEqual([]);
  });

  it('records failed requests of a sub-agent with what they used', async () => {
    const wasted = { inputTokens: 300, outputTokens: 20 };
    const error = new AgentError({ kind: 'network', message: 'cut', wasted, attempts: 2 });
    const agent = { ...scriptedAgent([]), run: () => Promise.reject(error) };
    const cut = new Executor({ agent, pricing }).asTool({ name: 'cut', description: 'Works.' });
    const { result, spent } = await play(memoryStore(), [cut]);
    expect(spent.map(({ spent }) => spent)).toMatchObject([{ wasted, attempts: 2, answers: 0, usd: 0.002 }]);
    expect(result.metrics.usd).toBeCloseTo(2 * each + 0.002, 12);
  });

  it('makes a resumed run count what its sub-agents have spent before [B2]', async () => {
    const store = memoryStore();
    const abort = new AbortController();
    const leaves = tool('leaves', () => abort.abort(new Error('The process ends.')));
    const tools = [subAgent('helper', []), leaves];
    const agent = scriptedAgent([asks('helper'), asks('leaves'), says]);
    const executor = new Executor({ agent, tools, pricing, store });
    const step = { sessionId: 'parent', runId: 'run', signal: abort.signal };
    await expect(async () => {
      for (let prompt = 'Go.'; ; ) await executor.advance({ ...step, prompt });
    }).rejects.toThrow();
    const budget = new Budget();
    const limited = new Executor({ agent, tools, pricing, store, limits: { usd: 0.031 } });
    const { status, limit, metrics } = await limited.resume('parent', { budget }).result;
    expect([status, limit]).toEqual(['limit', 'usd']);
    expect(metrics.usd).toBeCloseTo(3 * each, 12);
  });

  it('names the user of the run in every event, also of sub-agents', async () => {
    const store = memoryStore();
    const inside = memoryStore();
    await play(store, [subAgent('helper', [subAgent('inner', [], inside)], inside)], { user: 'ada' });
    for (const each of [store, inside]) {
      const ids = await each.sessions();
      const events = await Promise.all(ids.map((id) => each.read(id)));
      expect([...new Set(events.flat().map(({ user }: Event) => user))]).toEqual(['ada']);
    }
    expect(await inside.sessions()).toHaveLength(2);
  });
});
