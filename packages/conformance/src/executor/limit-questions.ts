import type { Event, ExecutorOptions, Pricing, ResumeOptions, RunResult } from '@cobbler/agent';
import { Budget } from '@cobbler/agent';
import type { BudgetStore } from '@cobbler/agent/budgets';
import { BudgetClient, memoryBudgets } from '@cobbler/agent/budgets';
import type { ModelStep, RunFixture } from '@cobbler/agent/testing';
import { calls, expect, expectEqual, probeTools, scriptedModel, textResponse } from '@cobbler/agent/testing';
import { errorOf } from './callers.ts';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('limit questions');

type NamedDecision = NonNullable<ResumeOptions['answers']>[number];

const pricing: Pricing = () => ({ input: 1, output: 10 });

/** Costs $0.03. */
const usage = { inputTokens: 10_000, outputTokens: 2_000 };

function task(limits: ExecutorOptions['limits'], budget?: Budget, more: Partial<ExecutorOptions> = {}) {
  const agent = scriptedModel([calls(['one'], { usage }), textResponse('Done.', { usage })]);
  const tools = [probeTools().tool('one')];
  return {
    agent,
    options: { agent, tools, pricing, limits: limits ?? {}, onReached: 'ask', ...more } as const,
    budget,
  };
}

type Task = ReturnType<typeof task>;

/** Runs a task until a limit refuses its second request. */
async function asked(setup: RunFixture, { options, budget }: Task): Promise<RunResult> {
  return await setup.until(
    setup.run(options, 'Go.', { sessionId: 'one', ...(budget !== undefined && { budget }) }),
  );
}

function answer(result: RunResult, given: Omit<NamedDecision, 'approvalId'>): readonly NamedDecision[] {
  return (result.approvals ?? []).map(({ approvalId }) => ({ approvalId, ...given }));
}

async function resumed(
  setup: RunFixture,
  { options, budget }: Task,
  answers: readonly NamedDecision[] = [],
): Promise<RunResult> {
  return await setup.until(
    setup.resume(options, 'one', { answers, ...(budget !== undefined && { budget }) }),
  );
}

async function stored(setup: RunFixture): Promise<readonly Event[]> {
  return await setup.until(Promise.resolve(setup.store.read('one', 0, 1000)));
}

const ownCases: readonly ExecutorCase[] = [
  the(
    'a reached limit of the run becomes a question, and nothing is sent while it is open [P1]',
    async (setup) => {
      const work = task({ usd: 0.04 });
      const first = await asked(setup, work);
      const limit = { amount: 'usd', max: 0.04, spent: 0.03, more: 0.04 };
      expectEqual([first.status, first.limit, first.error], ['waiting', undefined, undefined], 'the outcome');
      expectEqual(
        first.approvals?.map((request) => request.limit),
        [limit],
        'the limits in question',
      );
      const again = await resumed(setup, work);
      expectEqual(
        [again.status, again.approvals?.[0]?.approvalId],
        ['waiting', first.approvals?.[0]?.approvalId],
        'the outcome of a resume without an answer',
      );
      expectEqual(work.agent.requests.length, 1, 'the number of requests');
    },
  ),
  the('a run that may continue completes within the raised limit [P1]', async (setup) => {
    const work = task({ usd: 0.04 });
    const first = await asked(setup, work);
    const { status, text, metrics } = await resumed(setup, work, answer(first, { decision: 'allow' }));
    expectEqual([status, text, metrics.usd], ['complete', 'Done.', 0.06], 'the outcome');
    const { maxTokens = 0 } = work.agent.requests[1]?.config ?? {};
    expect(maxTokens < 5_000, `a response that the raised limit leaves room for, found ${maxTokens}`);
  }),
  the(
    'a run continues with the amount of the answer, and asks again if that is too little [P1]',
    async (setup) => {
      const work = task({ usd: 0.04 });
      const first = await asked(setup, work);
      const again = await resumed(setup, work, answer(first, { decision: 'allow', more: 0.001 }));
      expectEqual(
        [again.status, again.approvals?.[0]?.limit?.max],
        ['waiting', 0.041],
        'the second question',
      );
      const repeated = await resumed(setup, work, answer(first, { decision: 'allow', more: 1 }));
      expectEqual(
        [repeated.status, work.agent.requests.length],
        ['waiting', 1],
        'the first answer, repeated',
      );
    },
  ),
  the(
    'a fraction of a token or of a request is rejected, and the question stays open [P1, P21]',
    async (setup) => {
      const work = task({ tokens: 12_100 });
      const half = answer(await asked(setup, work), { decision: 'allow', more: 0.5 });
      const refused = await resumed(setup, work, half);
      expectEqual([refused.error?.code, work.agent.requests.length], ['bad_decision', 1], 'the outcome');
      const text = 'answer.more is invalid: it is 0.5. Use a whole number of tokens above 0.';
      expectEqual(refused.error?.message, text, 'the message');
      const run = setup.resume({ ...work.options, attended: true }, 'one');
      await setup.advance(100);
      const [{ approvalId = '' } = {}] = half;
      const error = errorOf(() => run.decide(approvalId, { decision: 'allow', more: 0.5 }));
      expectEqual(error?.code, 'bad_decision', 'the error of a run that waits');
      expect(run.decide(approvalId, { decision: 'allow', more: 20_000 }), 'an open question');
      expectEqual((await setup.until(run)).status, 'complete', 'the status after a whole number');
    },
  ),
  the('a run that must stop ends as without a question [P1]', async (setup) => {
    const work = task({ usd: 0.04 });
    const { status, limit, error } = await resumed(
      setup,
      work,
      answer(await asked(setup, work), { decision: 'deny' }),
    );
    const message = 'The limit on usd leaves no room for another request.';
    expectEqual(
      [status, limit, error?.kind, error?.message],
      ['limit', 'usd', 'limit', message],
      'the outcome',
    );
    expectEqual(work.agent.requests.length, 1, 'the number of requests');
  }),
  the('an attended run waits for the answer, and its time limit is paused [P1, P2]', async (setup) => {
    const work = task({ usd: 0.04, ms: 5_000 }, undefined, { attended: true });
    const run = setup.run(work.options, 'Go.', { sessionId: 'one' });
    await setup.advance(60_000);
    const request = (await stored(setup)).find((event) => event.type === 'approval_requested');
    expect(
      request?.type === 'approval_requested' && run.decide(request.approvalId, { decision: 'allow' }),
      'an open question',
    );
    expectEqual((await setup.until(run)).status, 'complete', 'the status');
  }),
  the('a question that expires stops the run [P1]', async (setup) => {
    const work = task({ usd: 0.04 }, undefined, { attended: true, approvalMs: 1_000 });
    expectEqual((await asked(setup, work)).limit, 'usd', 'the limit');
  }),
  the('a new prompt replaces the question, and has the limit of a new run [P1]', async (setup) => {
    const work = task({ usd: 0.04 });
    await asked(setup, work);
    const { status, approvals } = await asked(setup, work);
    expectEqual([status, approvals], ['complete', undefined], 'the outcome of the new prompt');
  }),
  the('a response that a limit cut off continues after the answer [P1]', async (setup) => {
    const cut: ModelStep = ({ config }) =>
      textResponse('Half of', {
        stop: 'max_tokens',
        usage: { inputTokens: 10, outputTokens: config?.maxTokens ?? 0 },
      });
    const agent = scriptedModel([cut, textResponse('Done.')]);
    const options = { agent, limits: { tokens: 2_000 }, onReached: 'ask' } as const;
    const work: Task = { ...task({}), agent, options: { ...task({}).options, ...options } };
    const { status, text } = await resumed(
      setup,
      work,
      answer(await asked(setup, work), { decision: 'allow', more: 10_000 }),
    );
    expectEqual([status, text], ['complete', 'Done.'], 'the outcome');
    const last = agent.requests[1]?.messages.at(-1);
    expectEqual(last?.role, 'user', 'the role of the last message');
  }),
  the('without the option a reached limit ends the run [P1]', async (setup) => {
    const { status, limit } = await asked(setup, task({ usd: 0.04 }, undefined, { onReached: 'end' }));
    expectEqual([status, limit], ['limit', 'usd'], 'the outcome');
    expect(
      (await stored(setup)).every(({ type }) => type !== 'approval_requested'),
      'no question',
    );
  }),
  the('the limit of a caller is not the run’s to raise [P1]', async (setup) => {
    const work = task({}, new Budget({ usd: 0.04 }));
    expectEqual((await asked(setup, work)).status, 'limit', 'the status');
  }),
];

async function sharedBudget(
  store: BudgetStore,
  { runtime }: RunFixture,
): Promise<{ client: BudgetClient; budget: Budget }> {
  const client = new BudgetClient({ store, runtime });
  return { client, budget: await client.budget('me') };
}

async function budgetStore({ runtime }: RunFixture): Promise<BudgetStore> {
  const store = memoryBudgets({ runtime });
  await store.define({ name: 'team', limits: { usd: 0.04 } });
  await store.define({ name: 'me', parent: 'team', limits: { usd: 1 } });
  return store;
}

async function granted(store: BudgetStore): Promise<readonly (number | undefined)[]> {
  return (await store.balances(['me', 'team'])).map((balance) => balance.granted.usd);
}

const sharedCases: readonly ExecutorCase[] = [
  the(
    'the question names the budget that is reached, and the answer raises only that one [P1, U5]',
    async (setup) => {
      const store = await budgetStore(setup);
      const { client, budget } = await sharedBudget(store, setup);
      const work = task({}, budget);
      const first = await asked(setup, work);
      const limit = { amount: 'usd', max: 0.04, spent: 0.03, more: 0.04, budget: 'team' };
      expectEqual(
        first.approvals?.map((request) => request.limit),
        [limit],
        'the limits in question',
      );
      expectEqual(await granted(store), [0, 0], 'the grants before the answer');
      const { status } = await resumed(setup, work, answer(first, { decision: 'allow', more: 0.5 }));
      await client.flush();
      expectEqual([status, await granted(store)], ['complete', [0, 0.5]], 'the outcome and the grants');
    },
  ),
  the('a refused grant changes no budget [P1]', async (setup) => {
    const store = await budgetStore(setup);
    const work = task({}, (await sharedBudget(store, setup)).budget);
    const { status, error } = await resumed(
      setup,
      work,
      answer(await asked(setup, work), { decision: 'deny' }),
    );
    expectEqual([status, await granted(store)], ['limit', [0, 0]], 'the outcome and the grants');
    expect(
      error?.message.startsWith('The limit of budget "team"') === true,
      'an error that names the budget',
    );
  }),
  the('a crash between the answer and the grant, or after the grant, grants once [P1, U5]', async (setup) => {
    for (const commits of [false, true]) {
      const inner = await budgetStore(setup);
      const crash = new AbortController();
      const store = new Proxy(inner, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name === 'grant' && !crash.signal.aborted)
            return async (grant: Parameters<BudgetStore['grant']>[0]) => {
              if (commits) await target.grant(grant);
              crash.abort(new Error('The process crashed.'));
              return await new Promise<void>(() => {});
            };
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      const { budget } = await sharedBudget(store, setup);
      const { options } = task({});
      const ids = { sessionId: `crash-${commits}`, runId: 'r', budget };
      const executor = setup.executor(options);
      const step = async (more: object) => await setup.until(executor.advance({ ...ids, ...more }));
      for (let over = false; !over; ) ({ over } = await step({ prompt: 'Go.' }));
      const end = await step({});
      expect(end.over && end.result.status === 'waiting', 'a run that waits');
      const answers = end.over ? answer(end.result, { decision: 'allow', more: 0.5 }) : [];
      await step({ answers, signal: crash.signal }).catch(() => undefined);
      for (let over = false; !over; ) ({ over } = await step({ answers }));
      expectEqual(
        await granted(inner),
        [0, 0.5],
        `the grants if the crash came ${commits ? 'after' : 'before'} one`,
      );
    }
  }),
];

export const limitQuestionCases: readonly ExecutorCase[] = [...ownCases, ...sharedCases];
