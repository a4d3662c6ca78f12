import type { Agent, Run } from '@cobbler/agent';
import type { Scenario, Staged } from '@cobbler/agent/scenarios';
import { scenarios } from '@cobbler/agent/scenarios';
import type { RunFixture, Spoil } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  expectOneOf,
  noResponse,
  ofType,
  probeTools,
  scriptedModel,
  seededRandom,
  textResponse,
} from '@cobbler/agent/testing';
import type { CreateSetup, ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';
import type { FaultPoint, FaultyStore, StoreFault } from '../setup/faulty-store.ts';
import { faultyStore, slowStore, storeFaults } from '../setup/faulty-store.ts';

const the = group('store');

/** A fixture whose store fails at one point. */
interface Failing {
  readonly setup: RunFixture;
  readonly store: FaultyStore;
}

function failing(createSetup: CreateSetup, place: FaultPoint, fault: StoreFault): Failing {
  let store: FaultyStore | undefined;
  const addFaults: Spoil = (healthy) => {
    store = faultyStore(healthy, place, fault);
    return store;
  };
  const setup = createSetup(addFaults);
  if (store === undefined) throw new Error('The fixture has no store.');
  return { setup, store };
}

/** Runs a scenario over a failing store. No request or tool may start after the store has failed. */
function startScenario({ setup, store }: Failing, opened: Staged, when: string): Run {
  const { agent, tools = [] } = opened.options;
  const beginning = (what: string) => expect(!store.failed, `no ${what} to start, ${when}`);
  const watchedAgent: Agent = {
    ...agent,
    run(request, context) {
      beginning('request');
      return agent.run(request, context);
    },
  };
  const watchedTools = tools.map((tool) => ({
    ...tool,
    execute(args: Record<string, unknown>, context: Parameters<typeof tool.execute>[1]) {
      beginning(`tool ${tool.name}`);
      return tool.execute(args, context);
    },
  }));
  const approvals: string[] = [];
  let run: Run | undefined;
  run = setup.run({ ...opened.options, agent: watchedAgent, tools: watchedTools }, 'Go.', {
    sessionId: 'one',
    onEvent(event) {
      if (event.type === 'approval_requested') approvals.push(event.approvalId);
      if (run !== undefined) opened.watch?.(event, run, approvals);
    },
  });
  return run;
}

/** Returns the number of appends that a scenario makes when nothing fails. */
async function appendsOf(createSetup: CreateSetup, scenario: Scenario): Promise<number> {
  const whole = failing(createSetup, -1, 'throws');
  const result = await whole.setup.until(startScenario(whole, scenario.open(), 'with a healthy store'));
  expectEqual(result.status, scenario.status, 'the status with a healthy store');
  return whole.store.appends;
}

function faultCase(scenario: Scenario, fault: StoreFault): ExecutorCase {
  return the(
    `a store that ${fault} at any point: ${scenario.name} [P1, P13, P18]`,
    async (_setup, createSetup) => {
      const appends = await appendsOf(createSetup, scenario);
      const places: FaultPoint[] = ['claim', 'read', ...Array.from({ length: appends }, (_, place) => place)];
      for (const place of places) {
        const when = `fault point ${place}`;
        const rig = failing(createSetup, place, fault);
        const opened = scenario.open();
        const run = startScenario(rig, opened, when);
        const result = await rig.setup.until(run);
        const ends = scenario.status === 'cancelled' ? ['failed', 'cancelled'] : ['failed'];
        expectOneOf(result.status as string, ends, `the status at ${when}`);
        if (result.status === 'failed') {
          expectEqual(result.error?.code, fault === 'is fenced' ? 'fenced' : 'store', `the code at ${when}`);
        }
        expectStarted(rig.setup, run, opened, when);
        await rig.setup.check();
        await expectContinues(rig.setup, when);
      }
    },
  );
}

/** No tool runs before its start is stored. */
function expectStarted(setup: RunFixture, run: Run, { runs }: Staged, when: string): void {
  const started = new Set(
    ofType(setup.storedOf(run), 'tool_started').map(({ turn, index }) => `${turn}.${index}`),
  );
  for (const { name, context } of runs) {
    const place = context.idempotencyKey.split(':').at(-1) ?? '';
    expect(started.has(place), `${name} (${place}) not to run before its start is stored, ${when}`);
  }
}

/** The session works again once the store does. */
async function expectContinues(setup: RunFixture, when: string): Promise<void> {
  const run = setup.run(
    { agent: scriptedModel([textResponse('Better now.')]), store: setup.healthy },
    'And now?',
    {
      sessionId: 'one',
    },
  );
  const result = await setup.until(run);
  expectEqual([result.status, result.text], ['complete', 'Better now.'], `the next run at ${when}`);
  await setup.check();
}

const slowCases: readonly ExecutorCase[] = [
  the(
    'a cancel ends the run within 250 ms, however slow the store is [P3, P13]',
    async (_setup, createSetup) => {
      for (const place of ['claim', 'read', 0, 1, 2, 3] as const) {
        const rig = failing(createSetup, place, 'hangs');
        const { tool } = probeTools();
        const agent = scriptedModel([calls(['one']), noResponse()]);
        const run = rig.setup.run({ agent, tools: [tool('one')] }, 'Go.', { sessionId: 'one' });
        await rig.setup.advance(1000);
        const before = rig.setup.elapsed;
        run.cancel();
        const result = await rig.setup.until(run);
        const took = rig.setup.elapsed - before;
        expect(took <= 250, `an end within 250 ms at ${place}, found ${took}`);
        expectEqual(result.status, 'cancelled', `the status at ${place}`);
        expect(result.messages.length >= 1, 'the messages so far to be kept');
        await rig.setup.check();
      }
    },
  ),
  the('a cancelled run that a slow store delays still records its end later', async (_setup, createSetup) => {
    const setup = createSetup((store, runtime) =>
      slowStore(store, runtime, { random: seededRandom(1), maxMs: 900 }),
    );
    const run = setup.run({ agent: scriptedModel([noResponse()]) }, 'Go.', { sessionId: 'one' });
    await setup.advance(100);
    run.cancel();
    expectEqual((await setup.until(run)).status, 'cancelled', 'the status');
    await setup.check();
    const stored = await setup.until(Promise.resolve(setup.store.read('one')));
    expectEqual(
      stored.map(({ type }) => type),
      ['user', 'stop_requested', 'finished'],
      'the events stored in the end',
    );
  }),
  the('a store that never settles fails the run after its timeout [P2, P13]', async (_setup, createSetup) => {
    for (const [storeTimeoutMs, place] of [
      [5000, 'claim'],
      [5000, 0],
      [700, 1],
    ] as const) {
      const rig = failing(createSetup, place, 'hangs');
      const run = rig.setup.run({
        agent: scriptedModel([textResponse('Done.')]),
        ...(storeTimeoutMs !== 5000 && { storeTimeoutMs }),
      });
      const result = await rig.setup.until(run);
      expectEqual(result.error?.code, 'store', 'the code');
      const { elapsed } = rig.setup;
      expect(
        elapsed >= storeTimeoutMs && elapsed <= storeTimeoutMs + 250,
        `an end when the store times out, found ${elapsed}`,
      );
      await rig.setup.check();
    }
  }),
  the(
    'a gate that hangs does not delay the end of a run whose store failed [P2, P13]',
    async (_setup, createSetup) => {
      const rig = failing(createSetup, 2, 'rejects');
      const agent = scriptedModel([calls(['one'])]);
      const run = rig.setup.run({
        agent,
        tools: [probeTools().tool('one')],
        gate: () => new Promise(() => {}),
      });
      await rig.setup.advance(1000);
      run.steer('Anybody there?');
      const before = rig.setup.elapsed;
      const result = await rig.setup.until(run);
      expectEqual(result.error?.code, 'store', 'the code');
      expect(rig.setup.elapsed - before <= 250, 'an end within 250 ms');
      await rig.setup.check();
    },
  ),
];

export const storeCases: readonly ExecutorCase[] = [
  ...scenarios.flatMap((scenario) => storeFaults.map((fault) => faultCase(scenario, fault))),
  ...slowCases,
];
