import type { Gate, GateCall, Run, Tool } from '@cobbler/agent';
import type { ModelStep, ProbeTools, RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';

const the = group('gate');

/** Two tools that are called together; one needs an approval. */
interface ApprovalProbe extends ProbeTools {
  readonly gate: Gate;
  readonly tools: readonly Tool[];
  readonly judged: readonly GateCall[];
}

function asking(): ApprovalProbe {
  const probe = probeTools();
  const judged: GateCall[] = [];
  const gate: Gate = (call) => {
    judged.push(call);
    return { type: call.toolName === 'write' ? 'ask' : 'allow' };
  };
  return { ...probe, gate, judged, tools: [probe.tool('read', { effect: 'read' }), probe.tool('write')] };
}

const script = (): ModelStep[] => [
  calls(['read', { name: 'write', arguments: { path: 'a' } }]),
  textResponse('Done.'),
];

/** Waits until an approval is requested and returns its id. */
async function requestedApproval(setup: RunFixture, run: Run): Promise<string> {
  await setup.advance(1000);
  return ofType(setup.storedOf(run), 'approval_requested')[0]?.approvalId ?? '';
}

function denies(what: string, verdict: () => unknown): ExecutorCase {
  return the(`a gate that ${what} denies the call [P21]`, async (setup) => {
    const { tool, names } = probeTools();
    const gate = verdict as Gate;
    const result = await setup.play({
      agent: scriptedModel([calls(['one']), textResponse('I see.')]),
      tools: [tool('one')],
      gate,
    });
    expectEqual(names, [], 'the tools that ran');
    expectEqual(resultsOf(result.messages)[0]?.notRun, true, 'the calls that did not run');
    expectEqual(result.status, 'complete', 'the status');
  });
}

const verdictCases: readonly ExecutorCase[] = [
  the('the gate sees the whole batch before any tool starts [P21]', async (setup) => {
    const { tool, names } = probeTools();
    const seen: number[] = [];
    const gate: Gate = () => {
      seen.push(names.length);
      return { type: 'allow' };
    };
    const tools = [tool('a', { effect: 'read', subject: () => 'the subject' }), tool('b')];
    await setup.play({ agent: scriptedModel([calls(['a', 'b']), textResponse('Done.')]), tools, gate });
    expectEqual(seen, [0, 0], 'the tools that had run when the gate was called');
  }),
  the('the gate receives name, arguments, effect and subject', async (setup) => {
    const { tool } = probeTools();
    const judged: GateCall[] = [];
    const gate: Gate = (call) => {
      judged.push(call);
      return { type: 'allow' };
    };
    const one = tool('one', { effect: 'read', subject: (args) => `path ${args['path']}` });
    const agent = scriptedModel([
      calls([{ name: 'one', id: 'x', arguments: { path: 'a' } }]),
      textResponse('Done.'),
    ]);
    await setup.play({ agent, tools: [one], gate });
    const expected = {
      id: 'x',
      toolName: 'one',
      arguments: { path: 'a' },
      effect: 'read',
      subject: 'path a',
    };
    expectEqual(judged, [expected], 'the call that the gate received');
  }),
  the('arguments that the gate sets are validated again, run and recorded [P9, P21]', async (setup) => {
    const { tool, runs } = probeTools();
    const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    const one = tool('one', { parameters });
    const agent = scriptedModel([calls([{ name: 'one', arguments: { path: 'a' } }]), textResponse('Done.')]);
    const gate: Gate = () => ({ type: 'allow', arguments: { path: 'b' } });
    const run = setup.run({ agent, tools: [one], gate });
    await setup.until(run);
    expectEqual(runs[0]?.arguments, { path: 'b' }, 'the arguments that ran');
    expectEqual(
      ofType(setup.storedOf(run), 'tool_started')[0]?.arguments,
      { path: 'b' },
      'the recorded arguments',
    );
  }),
  the('arguments that change on each read run as recorded [P9, P21]', async (setup) => {
    const { tool, runs } = probeTools();
    let reads = 0;
    const own = {
      get path() {
        reads += 1;
        return `reading ${reads}`;
      },
    };
    const gate: Gate = () => ({ type: 'allow', arguments: own });
    const run = setup.run({
      agent: scriptedModel([calls(['one']), textResponse('Done.')]),
      tools: [tool('one')],
      gate,
    });
    await setup.until(run);
    const recorded = ofType(setup.storedOf(run), 'tool_started')[0]?.arguments;
    expectEqual(
      [runs[0]?.arguments, recorded],
      [{ path: 'reading 1' }, { path: 'reading 1' }],
      'the arguments that ran',
    );
  }),
  the('arguments that the gate sets and the tool rejects do not run [P9, P21]', async (setup) => {
    const { tool, names } = probeTools();
    const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    const agent = scriptedModel([calls([{ name: 'one', arguments: { path: 'a' } }]), textResponse('I see.')]);
    const gate: Gate = () => ({ type: 'allow', arguments: { path: 7 } });
    const result = await setup.play({ agent, tools: [tool('one', { parameters })], gate });
    expectEqual(names, [], 'the tools that ran');
    expect(resultTexts(result.messages)[0]?.includes('gate') === true, 'the gate to be named in the result');
  }),
  the('the reason for a denied call reaches the model [P21]', async (setup) => {
    const { tool } = probeTools();
    const gate: Gate = () => ({ type: 'deny', message: 'Not on a Sunday.' });
    const run = setup.run({
      agent: scriptedModel([calls(['one']), textResponse('I see.')]),
      tools: [tool('one')],
      gate,
    });
    const result = await setup.until(run);
    expectEqual(resultTexts(result.messages), ['Not on a Sunday.'], 'the results');
    const [event] = ofType(setup.storedOf(run), 'tool_result');
    expectEqual([event?.denied, event?.notRun], [true, true], 'the results for display');
  }),
  denies('throws', () => {
    throw new Error('no gate today');
  }),
  denies('rejects', () => Promise.reject(new Error('no gate today'))),
  denies('returns undefined', () => undefined),
  denies('returns an unknown verdict', () => ({ type: 'yes' })),
  denies('allows the call with invalid arguments', () => ({ type: 'allow', arguments: 'all' })),
  denies('denies the call without a reason', () => ({ type: 'deny' })),
];

const attendedCases: readonly ExecutorCase[] = [
  the('no call of the batch starts before the user has decided [P21]', async (setup) => {
    const { names, ...rest } = asking();
    const run = setup.run({ agent: scriptedModel(script()), attended: true, ...rest });
    const approvalId = await requestedApproval(setup, run);
    expectEqual(names, [], 'the tools that ran');
    expect(run.decide(approvalId, { decision: 'allow' }), 'the decision to count');
    const result = await setup.until(run);
    expectEqual(names, ['read', 'write'], 'the tools that ran');
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('the arguments shown to the user are the arguments that run [P21]', async (setup) => {
    const probe = probeTools();
    const preview = () => Promise.resolve({ summary: '+1', diff: '+line' });
    const write = probe.tool('write', { preview, subject: () => 'a' });
    const run = setup.run({
      agent: scriptedModel([calls([{ name: 'write', arguments: { path: 'a' } }]), textResponse('Done.')]),
      attended: true,
      gate: () => ({ type: 'ask' }),
      tools: [write],
    });
    await requestedApproval(setup, run);
    const [event] = ofType(setup.storedOf(run), 'approval_requested');
    expectEqual([event?.summary, event?.diff, event?.subject], ['+1', '+line', 'a'], 'the preview shown');
    expectEqual(event?.arguments, { path: 'a' }, 'the arguments shown');
    run.cancel();
    await setup.until(run);
  }),
  the('the gate and the user receive the reason why a tool requires an approval [P21]', async (setup) => {
    const probe = probeTools();
    const judged: GateCall[] = [];
    const run = setup.run({
      agent: scriptedModel([calls([{ name: 'write', arguments: { path: 'hook' } }]), textResponse('Done.')]),
      attended: true,
      gate: (call) => {
        judged.push(call);
        return { type: 'ask' };
      },
      tools: [probe.tool('write', { mustAsk: ({ path }) => `${path} is protected.` })],
    });
    await requestedApproval(setup, run);
    const [event] = ofType(setup.storedOf(run), 'approval_requested');
    expectEqual(
      [judged[0]?.mustAsk, event?.mustAsk],
      ['hook is protected.', 'hook is protected.'],
      'the reasons',
    );
    run.cancel();
    await setup.until(run);
  }),
  the('a tool whose approval check fails requires an approval [P21]', async (setup) => {
    const { tool } = probeTools();
    const judged: GateCall[] = [];
    const mustAsk = () => {
      throw new Error('no disk today');
    };
    const gate: Gate = (call) => {
      judged.push(call);
      return { type: 'deny', message: 'no' };
    };
    await setup.play({
      agent: scriptedModel([calls(['a']), textResponse('Done.')]),
      tools: [tool('a', { mustAsk })],
      gate,
    });
    expect(
      judged[0]?.mustAsk?.includes('no disk today') === true,
      'the reason in the call that the gate received',
    );
  }),
  the('a call that became protected after it was allowed does not run [P21]', async (setup) => {
    const probe = probeTools();
    let target = 'src';
    const link = probe.tool('link', {
      execute: () => {
        target = '.git';
        return 'linked';
      },
    });
    const mustAsk = () => (target === '.git' ? 'x leads to .git.' : undefined);
    const agent = scriptedModel([calls(['link', 'write']), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: [link, probe.tool('write', { mustAsk })] });
    expectEqual(probe.names, ['link'], 'the tools that ran');
    expect(
      resultTexts(result.messages)[1]?.includes('x leads to .git.') === true,
      'the reason in the result',
    );
  }),
  the('a user who denies a call can give a reason', async (setup) => {
    const { names, ...rest } = asking();
    const run = setup.run({ agent: scriptedModel(script()), attended: true, ...rest });
    expect(
      run.decide(await requestedApproval(setup, run), { decision: 'deny', message: 'Ask me tomorrow.' }),
      'the decision to count',
    );
    const result = await setup.until(run);
    expectEqual(names, ['read'], 'the tools that ran');
    expectEqual(resultTexts(result.messages)[1], 'Ask me tomorrow.', 'the result for the model');
  }),
  the('a decision counts once [P21]', async (setup) => {
    const { names, ...rest } = asking();
    const run = setup.run({ agent: scriptedModel(script()), attended: true, ...rest });
    const approvalId = await requestedApproval(setup, run);
    const counted = [
      run.decide(approvalId, { decision: 'deny' }),
      run.decide(approvalId, { decision: 'allow' }),
    ];
    await setup.until(run);
    counted.push(run.decide(approvalId, { decision: 'allow' }));
    expectEqual(counted, [true, false, false], 'the decisions that counted');
    expectEqual(names, ['read'], 'the tools that ran');
    expectEqual(ofType(setup.storedOf(run), 'approval_decided').length, 1, 'the decisions recorded');
  }),
  the('a decision about an unknown approval does not count [P21]', async (setup) => {
    const run = setup.run({ agent: scriptedModel(script()), attended: true, ...asking() });
    const approvalId = await requestedApproval(setup, run);
    expectEqual(run.decide('something-else', { decision: 'allow' }), false, 'whether the decision counted');
    run.cancel();
    expectEqual(
      run.decide(approvalId, { decision: 'allow' }),
      false,
      'whether the decision counted after a cancel',
    );
    await setup.until(run);
  }),
  the(
    'each call of a batch is decided separately, and the gate is called once for each [P21]',
    async (setup) => {
      const probe = probeTools();
      const judged: string[] = [];
      const gate: Gate = ({ toolName }) => {
        judged.push(toolName);
        return { type: toolName === 'c' ? 'allow' : 'ask' };
      };
      const tools = ['a', 'b', 'c'].map((name) => probe.tool(name));
      const run = setup.run({
        agent: scriptedModel([calls(['a', 'b', 'c']), textResponse('Done.')]),
        attended: true,
        gate,
        tools,
      });
      await requestedApproval(setup, run);
      const ids = ofType(setup.storedOf(run), 'approval_requested').map(({ approvalId }) => approvalId);
      run.decide(ids[1] ?? '', { decision: 'allow' });
      await setup.advance(1000);
      expectEqual(probe.names, [], 'the tools that ran after the first decision');
      run.decide(ids[0] ?? '', { decision: 'deny' });
      await setup.until(run);
      expectEqual(probe.names, ['b', 'c'], 'the tools that ran');
      expectEqual(judged, ['a', 'b', 'c'], 'the calls that the gate received');
    },
  ),
  the(
    'the time until a decision is recorded and does not count towards the time limit [P2]',
    async (setup) => {
      const run = setup.run({
        agent: scriptedModel(script()),
        attended: true,
        limits: { ms: 60_000 },
        ...asking(),
      });
      const approvalId = await requestedApproval(setup, run);
      await setup.advance(3_600_000);
      run.decide(approvalId, { decision: 'allow' });
      const result = await setup.until(run);
      expectEqual(result.status, 'complete', 'the status');
      expect(result.metrics.waitedMs >= 3_600_000, `one hour of waiting, found ${result.metrics.waitedMs}`);
    },
  ),
];

export const gateCases: readonly ExecutorCase[] = [...verdictCases, ...attendedCases];
