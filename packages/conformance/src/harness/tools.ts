import type { Run } from '@cobbler/agent';
import { textOf } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { assertValidHistory, expect, expectEqual } from '@cobbler/agent/testing';
import type { HarnessCase } from './case.ts';
import { group } from './case.ts';
import { endOf, seen, soon, storedOf } from './environment.ts';

const batches = group('tools', ['tools']);
const running = group('tools', ['calls']);
const ordered = group('tools', ['names']);

export const toolCases: readonly HarnessCase[] = [
  batches('the first tool error stops the batch [S4.13]', async ({ harness, received }) => {
    const result = await endOf(harness.prompt('use look break look'));
    const answers = result.messages.filter(({ role }) => role === 'tool_result');
    expectEqual(
      answers.map((answer) => 'notRun' in answer),
      [false, false, true],
      'the results marked as not run',
    );
    expectEqual(
      received.filter((line) => line.startsWith('result')).map((line) => line.slice(0, 20)),
      ['result seen', 'result It broke. (er'],
      'the results that the handler received',
    );
    assertValidHistory(result.messages);
  }),
  running(
    'a tool that throws is reported to the model and the run continues [S4.14]',
    async ({ harness }) => {
      const result = await endOf(harness.prompt('use break'));
      expectEqual([result.status, result.error], ['complete', undefined], 'the outcome');
      expect(result.text.includes('It broke.'), 'the error in the response');
    },
  ),
  ordered('tools run one after another, in the order of the calls [S4.13]', async ({ harness }) => {
    const events = await storedOf(harness.prompt('use look look'));
    const places = events.flatMap((event) =>
      event.type === 'tool_started' || event.type === 'tool_result' ? [`${event.type} ${event.index}`] : [],
    );
    expectEqual(places, ['tool_started 0', 'tool_result 0', 'tool_started 1', 'tool_result 1'], 'the order');
  }),
  running('cancel ends a running tool, and its call gets a result [P3]', async ({ harness }) => {
    const run = harness.prompt('use hold look');
    await seen(run, 'tool_started');
    harness.cancel();
    const result = await endOf(run);
    expectEqual(result.status, 'cancelled', 'the status');
    assertValidHistory(result.messages);
    expectEqual((await endOf(harness.prompt('say On.'))).text, 'On.', 'the next prompt');
  }),
  running('a call to an unknown tool gets a result and does not end the run [P12]', async ({ harness }) => {
    const result = await endOf(harness.prompt('use nothing'));
    expectEqual(result.status, 'complete', 'the status');
    expect(result.text.includes('There is no tool named'), 'the reason in the response');
  }),
];

const asking = group('approvals', ['tools', 'gate']);

async function requestedApproval(run: Run): Promise<ApprovalRequestedEvent> {
  const request = await seen(run, 'approval_requested');
  const { status, approvals = [] } = await endOf(run);
  expectEqual(status, 'waiting', 'the status');
  expectEqual(
    approvals.map(({ approvalId }) => approvalId),
    [request.approvalId],
    'the approvals of the result',
  );
  return request;
}

export const approvalCases: readonly HarnessCase[] = [
  asking('a call that needs an approval waits and does not start', async ({ harness, log }) => {
    const request = await requestedApproval(harness.prompt('use write'));
    expectEqual(
      [request.toolName, request.arguments],
      ['write', { of: 'write' }],
      'the call in the approval request',
    );
    expect(!(await log()).some(({ type }) => type === 'tool_started'), 'no tool started');
  }),
  asking('an approved call runs after a resume', async ({ harness }) => {
    const { approvalId } = await requestedApproval(harness.prompt('use write'));
    const result = await endOf(harness.resume({ answers: [{ approvalId, decision: 'allow' }] }));
    expectEqual([result.status, result.text], ['complete', 'written'], 'the outcome');
  }),
  asking('a denied call does not run, and the model receives the reason', async ({ harness, log }) => {
    const { approvalId } = await requestedApproval(harness.prompt('use write'));
    const answer = { approvalId, decision: 'deny', message: 'Not today.' } as const;
    expectEqual((await endOf(harness.resume({ answers: [answer] }))).text, 'Not today.', 'the outcome');
    expect(!(await log()).some(({ type }) => type === 'tool_started'), 'no tool started');
  }),
  asking('a decision counts once [P9]', async ({ harness, log }) => {
    const { approvalId } = await requestedApproval(harness.prompt('use write'));
    await endOf(harness.resume({ answers: [{ approvalId, decision: 'allow' }] }));
    await endOf(harness.resume({ answers: [{ approvalId, decision: 'allow' }] }));
    expectEqual(
      (await log()).filter(({ type }) => type === 'tool_started').length,
      1,
      'the number of tool runs',
    );
  }),
  asking('a new prompt supersedes a pending approval', async ({ harness, log }) => {
    await requestedApproval(harness.prompt('use write'));
    const result = await endOf(harness.prompt('say On.'));
    expectEqual([result.status, result.text], ['complete', 'On.'], 'the outcome');
    assertValidHistory(result.messages);
    const decided = (await log()).flatMap((event) =>
      event.type === 'approval_decided' ? [event.decision] : [],
    );
    expectEqual(decided, ['superseded'], 'the decision');
  }),
];

const again = group('resume');

export const resumeCases: readonly HarnessCase[] = [
  again('resume before the first prompt fails', async ({ harness }) => {
    const { status, error } = await endOf(harness.resume());
    expectEqual([status, error?.kind, error?.code], ['failed', 'invalid', 'no_session'], 'the outcome');
  }),
  again('resuming a completed conversation returns its outcome without a request', async ({ harness }) => {
    await endOf(harness.prompt('say One.'));
    const result = await endOf(harness.resume());
    expectEqual(
      [result.status, result.messages.map(textOf)],
      ['complete', ['say One.', 'One.']],
      'the outcome',
    );
  }),
];

const hearing = group('handler');

export const handlerCases: readonly HarnessCase[] = [
  hearing('the handler receives blocks and results in protocol order [S4.9, S4.10]', async (fixture) => {
    await endOf(fixture.harness.prompt('think Done.'));
    expectEqual(
      fixture.received.filter((line) => !line.startsWith('status')),
      ['user think Done.', 'reasoning Let me think.', 'text Done.', 'usage 120 30'],
      'the calls that the handler received',
    );
    expectEqual(fixture.received.at(-1), 'status idle', 'the last call that the handler received');
  }),
  hearing('a failed run sets the status error [S4.18]', async ({ harness, received }) => {
    await endOf(harness.prompt('fail'));
    expect(
      received.at(-1)?.startsWith('status error') === true,
      `the status error, found ${received.at(-1)}`,
    );
  }),
  hearing('a handler that throws is reported once and does not affect the run', async ({ open }) => {
    const fault = () => {
      throw new Error('I am broken.');
    };
    const environment = await open({ onText: fault, onUser: fault, onEvent: fault });
    const result = await endOf(environment.harness.prompt('say Hello.'));
    expectEqual([result.status, result.text], ['complete', 'Hello.'], 'the outcome');
    expectEqual(environment.reports.length, 1, 'the number of reports');
    await soon(environment.close(), 'the harness to close');
  }),
  hearing('the harness works without a handler [S4.4]', async ({ open }) => {
    const environment = await open({});
    expectEqual((await endOf(environment.harness.prompt('say Hello.'))).text, 'Hello.', 'the outcome');
    await soon(environment.close(), 'the harness to close');
  }),
];

const handlingTools = group('handler', ['names']);

export const toolHandlerCases: readonly HarnessCase[] = [
  handlingTools(
    'a turn with a tool is reported as text, call, result, text [S4.9]',
    async ({ harness, received }) => {
      await endOf(harness.prompt('use look'));
      expectEqual(
        received.filter((line) => !line.startsWith('status')),
        [
          'user use look',
          'text Working.',
          'call look {"of":"look"}',
          'usage 120 30',
          'result seen',
          'text seen',
          'usage 120 30',
        ],
        'the calls that the handler received',
      );
    },
  ),
];
