import type { Event, PlannedChange, Run, Tool } from '@cobbler/agent';
import type { ProbeTools, RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultsOf,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';

const the = group('proposal');

/** Files that tools change and preview. */
interface Desk extends ProbeTools {
  readonly files: Map<string, string>;
  readonly tools: readonly Tool[];
  /** The changes that a user had allowed, as each call of `append` received them. */
  readonly approved: (readonly PlannedChange[] | undefined)[];
}

/** Returns a tool that appends a letter to a file, and a tool that does something unknown. */
function desk(contents: Readonly<Record<string, string>>, effect: 'once' | 'idempotent' = 'once'): Desk {
  const probe = probeTools();
  const files = new Map(Object.entries(contents));
  const approved: Desk['approved'] = [];
  const append = probe.tool('append', {
    effect,
    subject: ({ file }) => String(file),
    async preview({ file, letter }, context) {
      const target = String(file);
      const planned = context?.earlier.findLast((change) => change.target === target);
      const before = planned === undefined ? files.get(target) : planned.after;
      return { summary: '+1', changes: [{ target, before, after: `${before ?? ''}${String(letter)}` }] };
    },
    execute({ file, letter }, context) {
      approved.push(context.approved);
      files.set(String(file), `${files.get(String(file)) ?? ''}${String(letter)}`);
      return 'Appended.';
    },
  });
  const command = probe.tool('command', { preview: async () => ({ summary: 'in a folder' }) });
  return { ...probe, files, approved, tools: [append, command] };
}

function append(file: string, letter: string) {
  return { name: 'append', arguments: { file, letter } };
}

function start(setup: RunFixture, desk: Desk, batch: Parameters<typeof calls>[0]): Run {
  const agent = scriptedModel([calls(batch), textResponse('Done.')]);
  return setup.run({ agent, tools: desk.tools, attended: true, gate: () => 'ask' }, 'Go.', {
    sessionId: 'one',
  });
}

function requests(setup: RunFixture, run: Run): Extract<Event, { type: 'approval_requested' }>[] {
  return ofType(setup.storedOf(run), 'approval_requested');
}

/** Decides the approval at a place among all that were requested so far. */
async function decide(setup: RunFixture, run: Run, at: number, decision: 'allow' | 'deny'): Promise<void> {
  await setup.advance(1000);
  const request = requests(setup, run)[at];
  expect(request !== undefined && run.decide(request.approvalId, { decision }), `decision ${at} to count`);
  await setup.advance(1000);
}

export const proposalCases: readonly ExecutorCase[] = [
  the('a tool receives the changes that the user allowed [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const run = start(setup, probe, [append('a', 'y')]);
    await decide(setup, run, 0, 'allow');
    await setup.until(run);
    const [request] = requests(setup, run);
    const { digest } = setup.runtime;
    expectEqual(
      request?.changes,
      [{ target: 'a', before: await digest('x'), after: await digest('xy') }],
      'the hashes in the request',
    );
    expectEqual(
      probe.approved,
      [[{ target: 'a', before: 'x', after: 'xy' }]],
      'the changes that were allowed',
    );
    expectEqual(requests(setup, run).length, 1, 'the number of questions');
  }),
  the('if what a call changes is different by then, the user is asked again [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const run = start(setup, probe, [append('a', 'y')]);
    await setup.advance(1000);
    probe.files.set('a', 'other ');
    await decide(setup, run, 0, 'allow');
    expectEqual(probe.names, [], 'the tools that ran on the first decision');
    expectEqual(
      requests(setup, run).map(({ isRepeated }) => isRepeated),
      [undefined, true],
      'the questions',
    );
    await decide(setup, run, 1, 'allow');
    await setup.until(run);
    expectEqual(probe.files.get('a'), 'other y', 'the file');
    expectEqual(probe.approved[0]?.[0]?.before, 'other ', 'the content that was allowed to change');
  }),
  the('a user who is asked again can deny the call [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const run = start(setup, probe, [append('a', 'y')]);
    await setup.advance(1000);
    probe.files.delete('a');
    await decide(setup, run, 0, 'allow');
    await decide(setup, run, 1, 'deny');
    const result = await setup.until(run);
    expectEqual([probe.names, probe.files.has('a')], [[], false], 'the tools that ran, and the file');
    expectEqual(resultsOf(result.messages)[0]?.notRun, true, 'the call that did not run');
  }),
  the('with no user attached, the changed question waits, and can be answered later [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const agent = () => scriptedModel([calls([append('a', 'y')]), textResponse('Done.')]);
    const settings = { tools: probe.tools, gate: () => 'ask' as const };
    const first = setup.run({ agent: agent(), ...settings }, 'Go.', { sessionId: 'one' });
    const [asked] = (await setup.until(first)).approvals ?? [];
    probe.files.set('a', 'z');
    const answers = [{ approvalId: asked?.approvalId ?? '', decision: 'allow' as const }];
    const second = setup.resume({ agent: agent(), ...settings }, 'one', { answers });
    const waiting = await setup.until(second);
    expectEqual([waiting.status, probe.names], ['waiting', []], 'the status, and the tools that ran');
    const [again] = waiting.approvals ?? [];
    const last = setup.resume({ agent: scriptedModel([textResponse('Done.')]), ...settings }, 'one', {
      answers: [{ approvalId: again?.approvalId ?? '', decision: 'allow' }],
    });
    const result = await setup.until(last);
    expectEqual([result.status, probe.files.get('a')], ['complete', 'zy'], 'the status, and the file');
  }),
  the('calls of one response are shown as they will run, and asked about once [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const run = start(setup, probe, [append('a', '1'), append('b', '2'), append('a', '3')]);
    await decide(setup, run, 0, 'allow');
    await decide(setup, run, 1, 'allow');
    await decide(setup, run, 2, 'allow');
    await setup.until(run);
    expectEqual(requests(setup, run).length, 3, 'the number of questions');
    expectEqual([probe.files.get('a'), probe.files.get('b')], ['x13', '2'], 'the files');
  }),
  the('if an earlier call is denied, the user is asked again about what is left [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const run = start(setup, probe, [append('a', '1'), append('a', '2')]);
    await decide(setup, run, 0, 'deny');
    await decide(setup, run, 1, 'allow');
    expectEqual([probe.names, requests(setup, run).length], [[], 3], 'the tools that ran, and the questions');
    await decide(setup, run, 2, 'allow');
    await setup.until(run);
    expectEqual(probe.files.get('a'), 'x2', 'the file');
  }),
  the('a call whose effect is unknown names those that run before it [P21]', async (setup) => {
    const probe = desk({ a: 'x' });
    const run = start(setup, probe, [append('a', '1'), 'command', 'command']);
    for (const at of [0, 1, 2]) await decide(setup, run, at, 'allow');
    await setup.until(run);
    expectEqual(
      requests(setup, run).map(({ after }) => after),
      [undefined, ['append a'], ['append a', 'command']],
      'the calls named in each question',
    );
    expectEqual(probe.names, ['append', 'command', 'command'], 'the tools that ran');
  }),
  the('the calls that run before it are named with the arguments that run [P21]', async (setup) => {
    const probe = probeTools();
    const command = probe.tool('command', { subject: ({ line }) => String(line) });
    const given = (line: string) => ({ name: 'command', arguments: { line } });
    const run = setup.run({
      agent: scriptedModel([calls([given('list'), given('show')]), textResponse('Done.')]),
      tools: [command],
      attended: true,
      gate: ({ subject }) =>
        subject === 'list' ? { type: 'allow', arguments: { line: 'remove' } } : { type: 'ask' },
    });
    await decide(setup, run, 0, 'allow');
    await setup.until(run);
    expectEqual(requests(setup, run)[0]?.after, ['command remove'], 'the call named in the question');
    expectEqual(probe.runs[0]?.arguments, { line: 'remove' }, 'the arguments that ran');
  }),
  the(
    'a read whose change is different by then is asked about again, beside other reads too [P21]',
    async (setup) => {
      const probe = probeTools();
      let value = 'old';
      const preview = async () => ({ changes: [{ target: 'a', before: value }] });
      const tools = [
        probe.tool('plain', { effect: 'read' }),
        probe.tool('look', { effect: 'read', preview }),
      ];
      const run = setup.run({
        agent: scriptedModel([calls(['plain', 'look', 'plain']), textResponse('Done.')]),
        tools,
        attended: true,
        gate: ({ toolName }) => (toolName === 'look' ? 'ask' : 'allow'),
      });
      await setup.advance(1000);
      value = 'new';
      await decide(setup, run, 0, 'allow');
      expectEqual(requests(setup, run).length, 2, 'the number of questions');
      await decide(setup, run, 1, 'allow');
      await setup.until(run);
      expectEqual(probe.names, ['plain', 'look', 'plain'], 'the tools that ran');
      expectEqual(probe.runs[1]?.context.approved?.[0]?.before, 'new', 'the content that was allowed');
    },
  ),
  the(
    'a preview that takes longer than its tool may is shown as one that failed [P21, P29]',
    async (setup) => {
      const probe = probeTools();
      let previews = 0;
      const preview = () => {
        previews += 1;
        return previews === 1
          ? Promise.resolve({ changes: [{ target: 'a' }] })
          : new Promise<never>(() => {});
      };
      const run = setup.run({
        agent: scriptedModel([calls(['one']), textResponse('Done.')]),
        tools: [probe.tool('one', { preview, timeoutMs: 500 })],
        attended: true,
        gate: () => 'ask',
      });
      await decide(setup, run, 0, 'allow');
      await setup.advance(1000);
      const again = requests(setup, run)[1];
      expectEqual(
        [again?.changes, probe.names],
        [[], []],
        'the changes in the second question, and what ran',
      );
      expect(again?.summary?.includes('0.5 s') === true, 'the time limit in the question');
      run.cancel();
      await setup.until(run);
    },
  ),
  the('a call whose change is different each time is refused in the end [P21, P29]', async (setup) => {
    const probe = probeTools();
    let previews = 0;
    const preview = async () => ({ changes: [{ target: 'a', after: String(previews++) }] });
    const run = setup.run({
      agent: scriptedModel([calls(['one']), textResponse('Done.')]),
      tools: [probe.tool('one', { preview })],
      attended: true,
      gate: () => 'ask',
    });
    for (let at = 0; at <= 10; at += 1) await decide(setup, run, at, 'allow');
    const result = await setup.until(run);
    expectEqual(
      [requests(setup, run).length, probe.names],
      [11, []],
      'the questions, and the tools that ran',
    );
    expectEqual(resultsOf(result.messages)[0]?.notRun, true, 'the call that did not run');
  }),
  the(
    'an approval is used up by the call: after a crash, the user is asked again, once [P9, P21]',
    async (setup) => {
      const first = probeTools();
      const hanging = first.tool('set', {
        effect: 'idempotent',
        execute: () => new Promise<string>(() => {}),
      });
      const agent = scriptedModel([calls(['set'])]);
      const run = setup.run({ agent, tools: [hanging], attended: true, gate: () => 'ask' }, 'Go.', {
        sessionId: 'one',
      });
      await decide(setup, run, 0, 'allow');
      expectEqual(first.names, ['set'], 'the tools that started before the crash');
      const second = probeTools();
      const settings = { tools: [second.tool('set', { effect: 'idempotent' })], gate: () => 'ask' as const };
      const again = await setup.until(setup.resume({ agent: scriptedModel([]), ...settings }, 'one'));
      expectEqual([again.status, second.names], ['waiting', []], 'the status, and the tools that ran again');
      const answers = (again.approvals ?? []).map(({ approvalId }) => ({
        approvalId,
        decision: 'allow' as const,
      }));
      const last = setup.resume({ agent: scriptedModel([textResponse('Done.')]), ...settings }, 'one', {
        answers,
      });
      const result = await setup.until(last);
      expectEqual([result.status, second.names], ['complete', ['set']], 'the status, and the tools that ran');
      run.cancel();
      await setup.until(run);
    },
  ),
];
