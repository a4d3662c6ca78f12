import type { Event, Gate, RunResult } from '@cobbler/agent';
import type { ProbeTools, RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';

const the = group('waiting');

const gate: Gate = ({ toolName }) => ({ type: toolName === 'write' ? 'ask' : 'allow' });

/** A session that waits for an approval, with no user attached. */
interface WaitingSession extends ProbeTools {
  readonly result: RunResult;
  readonly approvalId: string;
}

async function waiting(setup: RunFixture): Promise<WaitingSession> {
  const probe = probeTools();
  const agent = scriptedModel([calls(['read', { name: 'write', arguments: { path: 'a' } }])]);
  const run = setup.run({ agent, gate, tools: toolsOf(probe) }, 'Go.', { sessionId: 'one' });
  const result = await setup.until(run);
  const [event] = ofType(setup.storedOf(run), 'approval_requested');
  return { ...probe, result, approvalId: event?.approvalId ?? '' };
}

function toolsOf(probe: ProbeTools) {
  return [probe.tool('read', { effect: 'read' }), probe.tool('write')];
}

export const approvalWaitCases: readonly ExecutorCase[] = [
  the(
    'with no user attached the run ends as waiting, starts no tool and leaves a valid history [P12, P21]',
    async (setup) => {
      const { result, names } = await waiting(setup);
      expectEqual([result.status, result.error], ['waiting', undefined], 'the outcome');
      expectEqual(names, [], 'the tools that ran');
      expectEqual(result.messages.length, 4, 'the number of messages');
    },
  ),
  the(
    'the result of a waiting run contains the approvals to decide, also after a resume [P21]',
    async (setup) => {
      const { result, approvalId } = await waiting(setup);
      const ids = ({ approvals = [] }: RunResult) => approvals.map((request) => request.approvalId);
      expectEqual(ids(result), [approvalId], 'the approvals of the result');
      const again = setup.resume({ agent: scriptedModel([]), gate, tools: toolsOf(probeTools()) }, 'one');
      expectEqual(ids(await setup.until(again)), [approvalId], 'the approvals of the resumed run');
    },
  ),
  the('resumed without a decision, it waits again [P21]', async (setup) => {
    const { names } = await waiting(setup);
    const probe = probeTools();
    const run = setup.resume({ agent: scriptedModel([]), gate, tools: toolsOf(probe) }, 'one');
    const result = await setup.until(run);
    expectEqual([result.status, names.length + probe.names.length], ['waiting', 0], 'the outcome');
    expectEqual(ofType(setup.storedOf(run), 'approval_requested'), [], 'the approvals requested again');
  }),
  the('resumed with a decision, it continues: allowed [P21]', async (setup) => {
    const { approvalId } = await waiting(setup);
    const probe = probeTools();
    const agent = scriptedModel([textResponse('Done.')]);
    const answers = [{ approvalId, decision: 'allow' }] as const;
    const result = await setup.until(
      setup.resume({ agent, gate, tools: toolsOf(probe) }, 'one', { answers }),
    );
    expectEqual([result.status, result.text], ['complete', 'Done.'], 'the outcome');
    expectEqual(probe.names, ['read', 'write'], 'the tools that ran');
  }),
  the('resumed with a decision, it continues: denied [P21]', async (setup) => {
    const { approvalId } = await waiting(setup);
    const probe = probeTools();
    const answers = [{ approvalId, decision: 'deny', message: 'No.' }] as const;
    const options = { agent: scriptedModel([textResponse('I see.')]), gate, tools: toolsOf(probe) };
    const result = await setup.until(setup.resume(options, 'one', { answers }));
    expectEqual(
      [probe.names, resultTexts(result.messages)[1]],
      [['read'], 'No.'],
      'the tools that ran, and the results',
    );
  }),
  the('a decision counts once: the second changes nothing [P21]', async (setup) => {
    const { approvalId } = await waiting(setup);
    const probe = probeTools();
    const answers = [
      { approvalId, decision: 'deny' },
      { approvalId, decision: 'allow' },
      { approvalId: 'another', decision: 'allow' },
    ] as const;
    const options = { agent: scriptedModel([textResponse('I see.')]), gate, tools: toolsOf(probe) };
    await setup.until(setup.resume(options, 'one', { answers }));
    expectEqual(probe.names, ['read'], 'the tools that ran');
  }),
  the('resumed with a user attached, it requests no new approval and follows the decision', async (setup) => {
    const { approvalId } = await waiting(setup);
    const probe = probeTools();
    const run = setup.resume(
      { agent: scriptedModel([textResponse('Done.')]), gate, tools: toolsOf(probe), attended: true },
      'one',
    );
    await setup.advance(7000);
    expect(run.decide(approvalId, { decision: 'allow' }), 'the decision to count');
    const result = await setup.until(run);
    expectEqual(probe.names, ['read', 'write'], 'the tools that ran');
    expectEqual(ofType(setup.storedOf(run), 'approval_requested'), [], 'the approvals requested again');
    expect(
      result.metrics.waitedMs >= 6000,
      `the waiting time to be counted, found ${result.metrics.waitedMs}`,
    );
  }),
  the('only approved arguments run: different arguments are rejected [P21]', async (setup) => {
    const { approvalId } = await waiting(setup);
    const stored = await setup.until(Promise.resolve(setup.store.read('one')));
    await forge(setup, stored.map(withOtherPath), 'two');
    const probe = probeTools();
    const answers = [{ approvalId, decision: 'allow' }] as const;
    const options = { agent: scriptedModel([textResponse('I see.')]), gate, tools: toolsOf(probe) };
    const result = await setup.until(setup.resume(options, 'two', { answers }));
    expectEqual(probe.names, ['read'], 'the tools that ran');
    expect(resultTexts(result.messages)[1]?.includes('approved') === true, 'the reason in the result');
  }),
  the('an approval without a decision in time counts as denied [P21]', async (setup) => {
    const probe = probeTools();
    const agent = scriptedModel([calls(['read', 'write']), textResponse('I see.')]);
    const options = { agent, gate, tools: toolsOf(probe), attended: true, approvalMs: 60_000 };
    const run = setup.run(options);
    await setup.advance(59_000);
    expectEqual(probe.names, [], 'the tools that ran before the approval expired');
    const [asked] = ofType(setup.storedOf(run), 'approval_requested');
    const result = await setup.until(run);
    expectEqual(
      [probe.names, resultTexts(result.messages)[1]?.includes('made in time')],
      [['read'], true],
      'the tools that ran and whether the result states the reason',
    );
    expectEqual(
      run.decide(asked?.approvalId ?? '', { decision: 'allow' }),
      false,
      'whether a late decision counts',
    );
    expectEqual(
      ofType(setup.storedOf(run), 'approval_decided')[0]?.decision,
      'expired',
      'the decision recorded',
    );
  }),
  the(
    'without approvalMs, an attended run waits without a time limit and without a timer [P21]',
    async (setup) => {
      const probe = probeTools();
      const agent = scriptedModel([calls(['write']), calls(['write']), textResponse('Done.')]);
      const options = { agent, gate, tools: toolsOf(probe), attended: true, limits: { ms: 60_000 } };
      const run = setup.run(options);
      const year = 365 * 86_400_000;
      await setup.advance(year);
      expectEqual([probe.names, setup.timers], [[], 0], 'the tools that ran, and the timers while it waits');
      const [asked] = ofType(setup.storedOf(run), 'approval_requested');
      expect(run.decide(asked?.approvalId ?? '', { decision: 'allow' }), 'a decision after a year to count');
      await setup.advance(year);
      run.cancel();
      const result = await setup.until(run);
      expectEqual(
        [result.status, probe.names],
        ['cancelled', ['write']],
        'the outcome and the tools that ran',
      );
    },
  ),
  the('an approval decided in time does not expire, and its timer is stopped', async (setup) => {
    const probe = probeTools();
    const agent = scriptedModel([calls(['write']), textResponse('Done.')]);
    const run = setup.run({ agent, gate, tools: toolsOf(probe), attended: true, approvalMs: 60_000 });
    await setup.advance(59_000);
    const [asked] = ofType(setup.storedOf(run), 'approval_requested');
    expectEqual(
      run.decide(asked?.approvalId ?? '', { decision: 'allow' }),
      true,
      'whether the decision counts',
    );
    await setup.until(run);
    expectEqual([probe.names, setup.timers], [['write'], 0], 'the tools that ran, and the timers left');
  }),
  the('resuming a session cannot allow an approval that has expired [P21]', async (setup) => {
    const first = probeTools();
    const agent = scriptedModel([calls(['write'])]);
    const run = setup.run({ agent, gate, tools: toolsOf(first), approvalMs: 60_000 }, 'Go.', {
      sessionId: 'one',
    });
    expectEqual((await setup.until(run)).status, 'waiting', 'the status');
    const [asked] = ofType(setup.storedOf(run), 'approval_requested');
    await setup.advance(61_000);
    const probe = probeTools();
    const answers = [{ approvalId: asked?.approvalId ?? '', decision: 'allow' }] as const;
    const options = { agent: scriptedModel([textResponse('I see.')]), gate, tools: toolsOf(probe) };
    const result = await setup.until(setup.resume(options, 'one', { answers }));
    expectEqual([result.status, probe.names], ['complete', []], 'the status and the tools that ran');
    const [text = '', ...others] = resultTexts(result.messages);
    expectEqual([text.includes('made in time'), others], [true, []], 'the results for the model');
  }),
  the('a new prompt supersedes a pending approval [P12]', async (setup) => {
    const { approvalId } = await waiting(setup);
    const agent = scriptedModel([textResponse('All right.')]);
    const run = setup.run({ agent, gate }, 'Never mind.', { sessionId: 'one' });
    const result = await setup.until(run);
    const [decided] = ofType(setup.storedOf(run), 'approval_decided');
    expectEqual(
      [decided?.approvalId, decided?.decision],
      [approvalId, 'superseded'],
      'the decision recorded',
    );
    expect(resultTexts(result.messages)[1]?.includes('new message') === true, 'the reason in the result');
    expectEqual(result.status, 'complete', 'the status');
    const late = [{ approvalId, decision: 'allow' }] as const;
    const probe = probeTools();
    await setup.until(
      setup.resume({ agent: scriptedModel([]), gate, tools: toolsOf(probe) }, 'one', { answers: late }),
    );
    expectEqual(probe.names, [], 'the tools that ran after a late decision');
  }),
];

/** Copies events to another session. */
async function forge(setup: RunFixture, events: readonly Event[], sessionId: string): Promise<void> {
  const epoch = await setup.until(Promise.resolve(setup.store.claim(sessionId)));
  const moved = events.map((event) => ({ ...event, id: `${sessionId}-${event.seq}` }));
  await setup.until(Promise.resolve(setup.store.append(sessionId, moved, { epoch })));
}

function withOtherPath(event: Event): Event {
  if (event.type !== 'assistant') return event;
  const content = event.content.map((part) =>
    part.type === 'tool_call' && part.toolName === 'write' ? { ...part, arguments: { path: 'b' } } : part,
  );
  return { ...event, content };
}
