import type { Price, RunResult, Tool } from '@cobbler/agent';
import { AgentError, addUsage, Budget, costOf, Executor, memoryStore, noUsage } from '@cobbler/agent';
import { callBlock, seededRandom } from '@cobbler/agent/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { costOf as costOfBill, shareOf, tokensOf } from '../src/ledger/bill.ts';
import { contrasts } from '../src/ledger/contrasts.ts';
import type { Mind, Reply } from '../src/ledger/service.ts';
import { reader, Stage, warmUp, words } from '../src/ledger/stage.ts';
import type { Subject } from '../src/ledger/subjects.ts';
import { subject, subjects } from '../src/ledger/subjects.ts';
import { perform } from '../src/ledger/work.ts';
import { extremes, randomWork, works } from '../src/ledger/works.ts';

beforeAll(() => warmUp(subjects));

const names = subjects.map(({ name }) => name);

describe.each(names)('%s', (name) => {
  test.each(works)('$name: at most $most of the price without a cache', async ({ shape, most }) => {
    const { share, requests, breaks } = await perform(subject(name), shape);
    expect(share).toBeLessThanOrEqual(most);
    expect(requests).toBeGreaterThanOrEqual(20);
    expect(breaks).toEqual([]);
  });

  test.each(extremes)(
    '$name: at most $most, although few cached tokens are read',
    async ({ shape, most }) => {
      expect((await perform(subject(name), shape)).share).toBeLessThanOrEqual(most);
    },
  );

  test('a request with `cache: false` costs the same as without a cache', async () => {
    const stage = new Stage(subject(name), () => ({ blocks: ['Done.'] }));
    await stage.play('Say it.', { system, tools: [read()], request: { cache: false } });
    expect(shareOf(stage.service.bill)).toBe(1);
  });

  test('random workloads never cost more than without a cache', async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const { share, breaks, requests } = await perform(subject(name), randomWork(seed));
      expect(requests).toBeGreaterThanOrEqual(5);
      expect([seed, share <= 1, breaks]).toEqual([seed, true, []]);
    }
  });
});

test.each(contrasts)(
  '$name: costs at least what it costs without a cache',
  async ({ work, edit, least, ...contrast }) => {
    const shape = works.find((one) => one.name === work)?.shape ?? { system: 0, tools: 0, prompts: [] };
    expect((await perform(subject(contrast.subject), shape, { edit })).share).toBeGreaterThanOrEqual(least);
  },
);

/** Returns a model that sends these replies in order, then a final one. */
const script =
  (...replies: Reply[]): Mind =>
  (_, index) =>
    replies[index] ?? { blocks: ['That is all.'] };

const calling = (id: number, more: Partial<Reply> = {}): Reply => ({
  blocks: [words(`Thinking about part ${id}. `, 120), callBlock(`call_${id}`, 'read', { path: `p${id}` })],
  ...more,
});

const read = (characters = 2_000): Tool => reader('read', characters);
const system = words('Mind the details of the project. ', 6_000);

describe.each(names)('%s: our totals match the ledger', (name) => {
  const troubled = script(
    calling(1),
    { blocks: [], trouble: 'overloaded' },
    calling(2, { trouble: 'cut' }),
    calling(2),
    calling(3),
  );

  test('after a 529 and a cut stream [P14]', async () => {
    const one = subject(name);
    const stage = new Stage(one, troubled);
    const { metrics, status } = await stage.play('Read.', { tools: [read()], system });
    expect(status).toBe('complete');
    expectTotals(stage, metrics, one);
    expect(stage.service.entries.map(({ outcome }) => outcome)).toEqual([
      'answered',
      'overloaded',
      'cut',
      'answered',
      'answered',
      'answered',
    ]);
  });

  test('after a run that fails in the end [P14]', async () => {
    const one = subject(name);
    const cut = calling(2, { trouble: 'cut' });
    const stage = new Stage(one, script(calling(1), cut, cut, cut, cut));
    const price: Price = { input: 100, output: 0, cacheRead: 10, cacheWrite: 125, cacheWriteLong: 200 };
    const { metrics, error } = await stage.play('Read.', { tools: [read()], system, pricing: () => price });
    expect([error?.kind, metrics.attempts]).toEqual(['network', 5]);
    expectTotals(stage, metrics, one);
    // Tokens that no service counted are estimated, and priced as if none were cached.
    const exact = costOfBill(stage.service.bill) / 1_000_000;
    if (one.countsEarly) expect(metrics.usd).toBeCloseTo(exact, 9);
    else expect(metrics.usd).toBeGreaterThan(0.5 * exact);
  });
});

/** Asserts the exact totals of complete responses, and the known totals of cut ones. */
function expectTotals({ service }: Stage, metrics: RunResult['metrics'], { countsEarly }: Subject): void {
  const answered = service.input('answered');
  expect({
    input: metrics.totalInputTokens,
    output: metrics.totalOutputTokens,
    read: metrics.cacheReadTokens,
    written: metrics.cacheWriteTokens,
  }).toEqual({
    input: tokensOf(answered),
    output: service.output('answered'),
    read: answered.read,
    written: answered.write + answered.writeLong,
  });
  const { wasted } = metrics;
  expect(wasted.estimated).toBe(true);
  const cut = tokensOf(service.input('cut'));
  if (countsEarly) expect(wasted.inputTokens).toBe(cut);
  else expect(Math.abs(wasted.inputTokens - cut) / cut).toBeLessThan(0.1);
  // No service counts the output of a cut response; the ledger counts the text that arrived, too.
  expect(wasted.outputTokens).toBe(service.output('cut'));
}

test('the cost matches the ledger exactly, including both cache lifetimes [P14]', async () => {
  const price: Price = { input: 100, output: 0, cacheRead: 10, cacheWrite: 125, cacheWriteLong: 200 };
  const stage = new Stage(subject('claude'), script(...Array.from({ length: 12 }, (_, id) => calling(id))));
  const slow = reader('read', 2_000, { execute: () => stage.clock.sleep(400_000).then(() => 'read') });
  const { metrics } = await stage.play('Read.', { tools: [slow], system, pricing: () => price });
  const { bill } = stage.service;
  expect(bill.writeLong).toBeGreaterThan(0);
  expect(bill.write).toBeGreaterThan(0);
  expect(metrics.usd).toBeCloseTo(costOfBill(bill) / 1_000_000, 9);
});

describe('a limit', () => {
  test.each(names)('of one token prevents every request: %s', async (name) => {
    const stage = new Stage(subject(name), script());
    const result = await stage.play('Hello.', { limits: { tokens: 1 } });
    expect([result.status, result.limit, stage.service.entries.length]).toEqual(['limit', 'tokens', 0]);
  });

  const kinds: readonly { readonly name: string; readonly limits: { tokens: number } | { usd: number } }[] = [
    { name: 'tokens', limits: { tokens: 250_000 } },
    { name: 'usd', limits: { usd: 0.3 } },
  ];
  const price: Price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, cacheWriteLong: 4 };

  test.each(kinds)(
    'on $name shared by eight runs is never exceeded, and at least 75% is used',
    async ({ limits }) => {
      for (const name of names) {
        const stage = new Stage(subject(name), troublesome(1));
        const budget = new Budget(limits);
        const options = {
          tools: [read(1_000)],
          system,
          pricing: () => price,
          request: { maxTokens: 4_000 },
          limits: { turns: 12 },
        };
        const work = async (index: number) => {
          for (;;) {
            const { limit } = await stage.play(`Read as run ${index}.`, options, { budget });
            if (limit === 'tokens' || limit === 'usd') return;
          }
        };
        await Promise.all(Array.from({ length: 8 }, (_, index) => work(index)));
        const spent = 'tokens' in limits ? stage.service.tokens : usdOf(stage, price);
        const most = 'tokens' in limits ? limits.tokens : limits.usd;
        expect(spent).toBeLessThanOrEqual(most);
        expect(spent).toBeGreaterThanOrEqual(0.75 * most);
      }
    },
  );

  test.each(kinds)(
    'on $name is not exceeded by eight runs that each use as much as allowed',
    async ({ limits }) => {
      for (const name of names) {
        const stage = new Stage(subject(name), greedy);
        const budget = new Budget(limits);
        const options = { pricing: () => price, request: { maxTokens: 12_000 }, tools: [read(10)] };
        const work = (index: number) => stage.play(`Read as run ${index}.`, options, { budget });
        for (const { limit } of await Promise.all(Array.from({ length: 8 }, (_, index) => work(index))))
          expect(['tokens', 'usd']).toContain(limit);
        const spent = 'tokens' in limits ? stage.service.tokens : usdOf(stage, price);
        const most = 'tokens' in limits ? limits.tokens : limits.usd;
        expect(spent).toBeLessThanOrEqual(most);
        expect(spent).toBeGreaterThanOrEqual(0.75 * most);
      }
    },
  );

  test('holds for three levels of runs with parallel calls, despite failures', async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const limits = { tokens: 60_000 + seed * 9_000 };
      const stage = new Stage(subject('claude'), delegating(seed));
      const budget = new Budget(limits);
      const options = { tools: [delegate(stage, 2)], system: 'Delegate.', request: { maxTokens: 3_000 } };
      const result = await stage.play('Go.', options, { budget });
      expect(['limit', 'failed', 'complete']).toContain(result.status);
      expect([seed, stage.service.tokens <= limits.tokens]).toEqual([seed, true]);
      expect(stage.service.tokens).toBeGreaterThanOrEqual(0.5 * limits.tokens);
      // The booked usage equals the actual usage, and nothing is reserved.
      expect(budget.tokens).toBe(stage.service.tokens);
      expect(budget.tokensLeft).toBe(limits.tokens - budget.tokens);
    }
  });
});

/** A model that generates as much text as allowed before each call. */
const greedy: Mind = ({ maxTokens = 1_000 }, index) => ({
  blocks: [
    words(`Part ${index}. `, maxTokens * 4 - 40),
    callBlock(`call_${index}`, 'read', { path: `p${index}` }),
  ],
});

/** Returns a model that always calls a tool, on a service that is sometimes cut or overloaded. */
function troublesome(seed: number): Mind {
  const random = seededRandom(seed);
  return (_, index) => {
    const trouble = random.chance(0.1) ? random.pick(['cut', 'overloaded'] as const) : undefined;
    return { ...calling(index), ...(trouble !== undefined && { trouble }) };
  };
}

/** Returns a model that delegates its work in several parallel calls per turn. */
function delegating(seed: number): Mind {
  const random = seededRandom(seed);
  return (request, index) => {
    const trouble = random.chance(0.1) ? random.pick(['cut', 'overloaded'] as const) : undefined;
    const calls = Array.from({ length: random.between(1, 4) }, (_, place) =>
      callBlock(`call_${index}_${place}`, request.tools[0]?.name ?? 'none', { path: `part ${place}` }),
    );
    const text = words(`Part ${index} of the work. `, random.between(1, 4_000));
    const isDone = request.tools[0]?.name !== 'delegate_2' && random.chance(0.1);
    return { blocks: isDone ? [text] : [text, ...calls], ...(trouble !== undefined && { trouble }) };
  };
}

/** Returns a tool that runs an executor on the budget of its own run. */
function delegate(stage: Stage, levels: number): Tool {
  return reader(`delegate_${levels}`, 0, {
    async execute(_args, { budget, signal }) {
      const executor = new Executor({
        agent: stage.agent,
        runtime: stage.clock,
        tools: levels > 1 ? [delegate(stage, levels - 1)] : [read(500)],
        request: { maxTokens: 3_000 },
        limits: { turns: 6, ms: 1e9 },
      });
      return (await executor.run('Do a part.', { budget, signal }).result).status;
    },
  });
}

function usdOf({ service }: Stage, price: Price): number {
  const { plain, read: found, write, writeLong } = service.bill;
  const usage = {
    inputTokens: plain + found + write + writeLong,
    outputTokens: service.output('answered') + service.output('cut'),
    cacheReadTokens: found,
    cacheWriteTokens: write + writeLong,
    cacheWriteLongTokens: writeLong,
  };
  return costOf(addUsage(noUsage, usage), price);
}

describe.each(names)('%s: a resumed history', (name) => {
  const replies = script(...Array.from({ length: 8 }, (_, id) => calling(id)));
  const text = { type: 'string', description: 'The path.' };
  const tool = (properties: Record<string, object>): Tool => ({
    ...read(),
    parameters: { type: 'object', properties: properties as never, required: ['path'] },
  });

  const from = { type: 'integer', minimum: 1 };
  const other = { ...read(), name: 'other' };

  /** Runs eight turns, then continues from the serialized messages on the same service. */
  async function goesOn(options: { tools: Tool[]; system?: string; isNew: boolean }) {
    const stage = new Stage(subject(name), replies);
    const first = await stage.play('Read.', { tools: [tool({ path: text, from }), other], system });
    const messages = JSON.parse(
      JSON.stringify([...first.messages, { role: 'user', content: [{ type: 'text', text: 'And?' }] }]),
    ) as RunResult['messages'];
    const { entries } = stage.service;
    const before = entries.at(-1)?.bill;
    const agent = options.isNew ? stage.anotherAgent() : stage.agent;
    await stage.play(messages, {
      system,
      agent,
      tools: options.tools,
      ...('system' in options && { system: options.system ?? '' }),
    });
    const after = entries.at(-1)?.bill;
    if (before === undefined || after === undefined) throw new Error('There was no request.');
    return { breaks: stage.breaks, share: shareOf(after), read: after.read, before: tokensOf(before) };
  }

  test.each([true, false])(
    'is read from the cache if the keys of a tool are reordered (new process: %s)',
    async (isNew) => {
      const tools = [tool({ from: { minimum: 1, type: 'integer' }, path: { ...text } }), { ...other }];
      const { breaks, share, read: found, before } = await goesOn({ tools, isNew });
      expect(breaks).toEqual([]);
      expect(share).toBeLessThan(0.2);
      expect(found).toBeGreaterThan(0.9 * before);
    },
  );

  test('reports a removed tool, and about how many tokens that costs', async () => {
    const { breaks, share, before } = await goesOn({
      tools: [tool({ path: text, from })],
      isNew: false,
    });
    expect(breaks).toEqual([{ type: 'cache_break', layer: 'tools', block: 1, tokens: expect.any(Number) }]);
    expect(Math.abs((breaks[0]?.tokens ?? 0) - before) / before).toBeLessThan(0.15);
    expect(share).toBeGreaterThan(0.9);
  });

  test('reports changed instructions', async () => {
    const tools = [tool({ path: text, from }), other];
    const { breaks, share } = await goesOn({ tools, system: `Today is Monday. ${system}`, isNew: false });
    expect(breaks.map(({ layer, block }) => [layer, block])).toEqual([['system', 0]]);
    expect(share).toBeGreaterThan(0.8);
  });
});

test('a session that is resumed by run after run keeps its cached prefix', async () => {
  const stage = new Stage(subject('claude'), () => ({ blocks: [words('Said at length. ', 800)] }));
  const store = memoryStore();
  for (let turn = 0; turn < 10; turn += 1) {
    await stage.play(`Question ${turn}?`, { store, system, tools: [read()] }, { sessionId: 'one' });
  }
  expect(stage.breaks).toEqual([]);
  const [, ...later] = stage.service.entries;
  for (const { bill } of later) expect(bill.read).toBeGreaterThan(0.8 * tokensOf(bill));
});

test('the test service rejects five cache marks, and a longer lifetime after a shorter one', async () => {
  const edits = [
    (body: Record<string, unknown>) => {
      const message = {
        role: 'user',
        content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
      };
      body['messages'] = Array.from({ length: 5 }, (_, at) =>
        at % 2 === 0 ? message : { ...message, role: 'assistant' },
      );
    },
    (body: Record<string, unknown>) => {
      const block = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } };
      body['messages'] = [{ role: 'user', content: [block] }];
    },
  ];
  for (const edit of edits) {
    const stage = new Stage(subject('claude'), script(), { edit });
    const result = await stage.play('Hello.', { system });
    expect(result.status).toBe('failed');
    expect(AgentError.is(result.error) && result.error.message).toMatch(/rejects/);
  }
});
