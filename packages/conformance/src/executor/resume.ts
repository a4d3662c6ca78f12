import type { Event, Run } from '@cobbler/agent';
import type { Scenario, Staged } from '@cobbler/agent/scenarios';
import { scenarios } from '@cobbler/agent/scenarios';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  expectOneOf,
  noResponse,
  ofType,
  probeTools,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('resume');

/** Runs a scenario to its end and returns its stored events. */
async function eventsOfRun(setup: RunFixture, scenario: Scenario): Promise<readonly Event[]> {
  const opened = scenario.open();
  const run = startWatched(opened, [], (onEvent) =>
    setup.run(opened.options, 'Go.', { sessionId: 'whole', onEvent }),
  );
  const result = await setup.until(run);
  expectEqual(result.status, scenario.status, 'the status of the whole run');
  return await setup.until(Promise.resolve(setup.store.read('whole')));
}

/** Starts a run and reacts to its events as the scenario defines. */
function startWatched(
  opened: Staged,
  before: readonly Event[],
  start: (onEvent: (event: Parameters<NonNullable<Staged['watch']>>[0]) => void) => Run,
): Run {
  const approvals = ofType(before, 'approval_requested').map(({ approvalId }) => approvalId);
  let run: Run | undefined;
  run = start((event) => {
    if (event.type === 'approval_requested') approvals.push(event.approvalId);
    if (run !== undefined) opened.watch?.(event, run, approvals);
  });
  return run;
}

/** Copies the first events of a run into a new session, as a crash would leave them. */
async function leave(setup: RunFixture, events: readonly Event[], sessionId: string): Promise<void> {
  const epoch = await setup.until(Promise.resolve(setup.store.claim(sessionId)));
  const moved = events.map((event) => ({ ...event, id: `${sessionId}-${event.seq}` }));
  await setup.until(Promise.resolve(setup.store.append(sessionId, moved, { epoch })));
}

const prefixCases: readonly ExecutorCase[] = scenarios.map((scenario) =>
  the(`after a crash at any event: ${scenario.name} [P9, P12]`, async (setup) => {
    const whole = await eventsOfRun(setup, scenario);
    for (let length = 1; length <= whole.length; length += 1) {
      const events = whole.slice(0, length);
      const sessionId = `cut-${length}`;
      await leave(setup, events, sessionId);
      const opened = scenario.open();
      const run = startWatched(opened, events, (onEvent) =>
        setup.resume(opened.options, sessionId, { onEvent }),
      );
      const result = await setup.until(run);
      const last = events.at(-1)?.type;
      expectOneOf(
        result.status,
        [scenario.status, 'complete'],
        `the status after ${length} events (${last})`,
      );
      expectOnce(events, opened, `after ${length} events (${last})`);
    }
  }),
);

/** P9: a call that started before the crash runs again only if its tool allows it. */
function expectOnce(before: readonly Event[], { runs }: Staged, when: string): void {
  const started = new Set(ofType(before, 'tool_started').map(({ turn, index }) => `${turn}.${index}`));
  const seen = new Set<string>();
  for (const { name, context } of runs) {
    const place = context.idempotencyKey.split(':').at(-1) ?? '';
    expect(!seen.has(place), `call ${place} to run once in one process, ${when}`);
    seen.add(place);
    expect(name !== 'write' || !started.has(place), `call ${place} of ${name} not to run again, ${when}`);
  }
}

export const resumeCases: readonly ExecutorCase[] = [
  ...prefixCases,
  the(
    'after a crash, interrupted read and idempotent tools run again, once tools never [P9]',
    async (setup) => {
      const first = probeTools();
      const never = () => new Promise<string>(() => {});
      const agent = scriptedModel([calls(['read', 'set', 'write'])]);
      const effects = { read: 'read', set: 'idempotent', write: 'once' } as const;
      for (const [interrupted, runs] of [
        ['read', ['read', 'set', 'write']],
        ['set', ['set', 'write']],
        ['write', []],
      ] as const) {
        const sessionId = `at-${interrupted}`;
        const make = (probe: ReturnType<typeof probeTools>, hanging: string | undefined) =>
          (['read', 'set', 'write'] as const).map((name) =>
            probe.tool(name, { effect: effects[name], ...(name === hanging && { execute: never }) }),
          );
        const run = setup.run(
          { agent: scriptedModel([calls(['read', 'set', 'write'])]), tools: make(first, interrupted) },
          'Go.',
          {
            sessionId,
          },
        );
        await setup.advance(2000);
        const second = probeTools();
        const again = setup.resume(
          { agent: scriptedModel([textResponse('Done.')]), tools: make(second, undefined) },
          sessionId,
        );
        const result = await setup.until(again);
        expectEqual(second.names, [...runs], `the tools that ran again after a crash in ${interrupted}`);
        const unknown = resultTexts(result.messages).filter((text) => text.includes('outcome is unknown'));
        expectEqual(unknown.length, interrupted === 'write' ? 1 : 0, 'the results with an unknown outcome');
        run.cancel();
        await setup.until(run);
      }
      expectEqual(agent.requests.length, 0, 'the approvals requested');
    },
  ),
  the(
    'a call that started before the crash and whose tool is missing has an unknown outcome [P9]',
    async (setup) => {
      const { tool } = probeTools();
      const hanging = tool('write', { execute: () => new Promise(() => {}) });
      const run = setup.run({ agent: scriptedModel([calls(['write'])]), tools: [hanging] }, 'Go.', {
        sessionId: 'one',
      });
      await setup.advance(2000);
      const result = await setup.until(
        setup.resume({ agent: scriptedModel([textResponse('Done.')]) }, 'one'),
      );
      expect(
        resultTexts(result.messages)[0]?.includes('outcome is unknown') === true,
        'a result with an unknown outcome',
      );
      run.cancel();
      await setup.until(run);
    },
  ),
  the('usage before the crash counts towards the limits [B2]', async (setup) => {
    const { tool } = probeTools();
    const usage = { inputTokens: 3000, outputTokens: 10 };
    const agent = scriptedModel([calls(['one'], { usage }), calls(['one'], { usage }), noResponse()]);
    const run = setup.run({ agent, tools: [tool('one')] }, 'Go.', { sessionId: 'one' });
    await setup.advance(2000);
    const next = scriptedModel([textResponse('Never asked.')]);
    // The next request would fit if only the conversation counted: it is half the size of the usage so far.
    const tokens = setup.resume({ agent: next, tools: [tool('one')], limits: { tokens: 6400 } }, 'one');
    expectEqual((await setup.until(tokens)).limit, 'tokens', 'the limit on tokens');
    const turns = setup.resume({ agent: next, tools: [tool('one')], limits: { turns: 2 } }, 'one');
    const result = await setup.until(turns);
    expectEqual([result.limit, result.metrics.invocations], ['turns', 2], 'the limit on turns');
    expectEqual(next.requests.length, 0, 'the number of requests');
    run.cancel();
    await setup.until(run);
  }),
  the('resuming a finished session returns the same outcome without a request', async (setup) => {
    await setup.play({ agent: scriptedModel([textResponse('Done.')]) }, 'Go.', { sessionId: 'one' });
    const result = await setup.until(setup.resume({ agent: scriptedModel([]) }, 'one'));
    expectEqual([result.status, result.text], ['complete', 'Done.'], 'the outcome');
  }),
  the('resuming a failed session tries again', async (setup) => {
    const agent = scriptedModel([() => Promise.reject(new Error('gone')), textResponse('Back again.')]);
    const first = await setup.play({ agent }, 'Go.', { sessionId: 'one' });
    expectEqual(first.status, 'failed', 'the first outcome');
    const result = await setup.until(setup.resume({ agent }, 'one'));
    expectEqual([result.status, result.text], ['complete', 'Back again.'], 'the outcome');
  }),
  the('resuming an unknown session fails and does not create it', async (setup) => {
    const agent = scriptedModel([textResponse('Hello?')]);
    const result = await setup.until(setup.resume({ agent }, 'nowhere'));
    expectEqual(
      [result.status, result.error?.kind, result.error?.code],
      ['failed', 'invalid', 'no_session'],
      'the outcome',
    );
    expectEqual(agent.requests.length, 0, 'the number of requests');
    expectEqual(await setup.store.sessions(), [], 'the sessions');
  }),
];

const fencing = group('writers');

export const writerCases: readonly ExecutorCase[] = [
  fencing('of two writers the older one is fenced off and starts no more calls [P9, P13]', async (setup) => {
    const { tool, names } = probeTools();
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const old = setup.run({ agent: scriptedModel([() => held.promise]), tools: [tool('write')] }, 'Go.', {
      sessionId: 'one',
    });
    await setup.advance(1000);
    const next = setup.run({ agent: scriptedModel([textResponse('Mine now.')]) }, 'Hello.', {
      sessionId: 'one',
    });
    expectEqual((await setup.until(next)).status, 'complete', 'the outcome of the newer writer');
    held.resolve(calls(['write']));
    const result = await setup.until(old);
    expectEqual([result.status, result.error?.code], ['failed', 'fenced'], 'the outcome of the older writer');
    expectEqual(names, [], 'the tools that the older writer ran');
    const stored = await setup.until(Promise.resolve(setup.store.read('one')));
    expectEqual(
      stored.filter(({ runId }) => runId === old.id).map(({ type }) => type),
      ['user'],
      'the events that the older writer appended',
    );
  }),
  fencing(
    'a session resumed elsewhere during a tool call does not run the tool again [P9]',
    async (setup) => {
      const probe = probeTools();
      const hanging = probe.tool('write', { execute: () => new Promise(() => {}) });
      const old = setup.run({ agent: scriptedModel([calls(['write'])]), tools: [hanging] }, 'Go.', {
        sessionId: 'one',
      });
      await setup.advance(1000);
      const next = setup.resume(
        { agent: scriptedModel([textResponse('Done.')]), tools: [probe.tool('write')] },
        'one',
      );
      expectEqual((await setup.until(next)).status, 'complete', 'the outcome of the newer writer');
      expectEqual(probe.names, ['write'], 'the tools that ran');
      old.cancel();
      expectEqual((await setup.until(old)).status, 'cancelled', 'the outcome of the older writer');
    },
  ),
];
