import type { ApprovalDecision, Run } from '@cobbler/agent';
import { AgentError, textOf } from '@cobbler/agent';
import { assertValidHistory, expect, expectEqual } from '@cobbler/agent/testing';
import type { HarnessCase } from './case.ts';
import { group } from './case.ts';
import { endOf, eventsOf, seen, soon, storedOf } from './environment.ts';

const the = group('prompt');

/** Returns the code of the AgentError that a call throws. */
function codeOf(call: () => unknown): string | undefined {
  try {
    call();
  } catch (thrown) {
    if (AgentError.is(thrown)) return thrown.code;
    throw thrown;
  }
  return undefined;
}

export const promptCases: readonly HarnessCase[] = [
  the('a prompt resolves with the response from the model [S4.5]', async ({ harness }) => {
    const result = await endOf(harness.prompt('say Hello.'));
    expectEqual([result.status, result.text, result.error], ['complete', 'Hello.', undefined], 'the outcome');
    expectEqual(result.sessionId, harness.sessionId, 'the session');
    expect(result.unwrap() === result, 'unwrap to return the result of a complete run itself');
  }),
  the('a prompt returns its run immediately, with its ids', async ({ harness }) => {
    const run = harness.prompt('say Hello.', { runId: 'run-of-my-own' });
    expectEqual([run.id, run.sessionId], ['run-of-my-own', harness.sessionId], 'the ids');
    expectEqual((await endOf(run)).runId, 'run-of-my-own', 'the id in the result');
  }),
  the('earlier prompts are part of the next request [S4.8]', async ({ harness, log }) => {
    await endOf(harness.prompt('say One.'));
    await endOf(harness.prompt('say Two.'));
    const result = await endOf(harness.prompt('count'));
    expectEqual(result.text, '3', 'the number of messages that the model received');
    expectEqual(
      result.messages.map(textOf),
      ['say One.', 'One.', 'say Two.', 'Two.', 'count', '3'],
      'the conversation',
    );
    const seqs = (await log()).map(({ seq }) => seq);
    expectEqual(
      seqs,
      [...seqs.keys()].map((index) => index + 1),
      'the sequence numbers in the log',
    );
  }),
  the('the events of a run match those of the log, from user to finished', async ({ harness, log }) => {
    await endOf(harness.prompt('say One.'));
    const run = harness.prompt('use look');
    const stored = await storedOf(run);
    await endOf(run);
    const kinds = ['user', 'assistant', 'tool_started', 'tool_result', 'assistant', 'finished'];
    expectEqual(
      stored.map(({ type }) => type),
      kinds,
      'the events',
    );
    expectEqual(JSON.stringify(stored), JSON.stringify((await log()).slice(-kinds.length)), 'the log');
  }),
  the('the first event is started and the last one is finished', async ({ harness }) => {
    const events = await eventsOf(harness.prompt('say Hello.'));
    expectEqual(
      [events[0]?.type, events.at(-1)?.type],
      ['started', 'finished'],
      'the first and the last event',
    );
  }),
  the('a run ends at its limit of turns with a valid conversation [S4.12]', async ({ harness }) => {
    const result = await endOf(harness.prompt('loop'));
    expectEqual(
      [result.status, result.limit, result.metrics.invocations],
      ['limit', 'turns', 10],
      'the outcome',
    );
    assertValidHistory(result.messages);
    expectEqual((await endOf(harness.prompt('say On.'))).text, 'On.', 'the next prompt');
  }),
  the(
    'an error of the service becomes the result, and the next prompt works [S4.12]',
    async ({ harness }) => {
      const result = await endOf(harness.prompt('fail'));
      expectEqual([result.status, result.error?.kind], ['failed', 'auth'], 'the outcome');
      let thrown: unknown;
      try {
        result.unwrap();
      } catch (error) {
        thrown = error;
      }
      expect(thrown === result.error, 'unwrap to throw the error');
      expectEqual((await endOf(harness.prompt('say On.'))).status, 'complete', 'the next prompt');
    },
  ),
  the('neither a truncated response nor a refusal is a success', async ({ harness }) => {
    expectEqual(
      (await endOf(harness.prompt('cut'))).status,
      'max_tokens',
      'the outcome of a truncated response',
    );
    expectEqual((await endOf(harness.prompt('refuse'))).status, 'refusal', 'the outcome of a refusal');
  }),
  the('an empty prompt is a failed run without recorded events', async ({ harness, log }) => {
    const result = await endOf(harness.prompt(' '));
    expectEqual([result.status, result.error?.kind], ['failed', 'invalid'], 'the outcome');
    expectEqual((await log()).length, 0, 'the length of the log');
  }),
  the('an invalid prompt is a failed run without recorded events [S4.12]', async ({ harness, log }) => {
    for (const value of [null, undefined, 7, {}, [null], [{ type: 'tool-call' }], [{ type: 'text' }]]) {
      const result = await endOf(harness.prompt(value as unknown as string));
      expectEqual(
        [result.status, result.error?.kind, result.error?.code],
        ['failed', 'invalid', 'bad_prompt'],
        `the outcome of ${JSON.stringify(value)}`,
      );
    }
    expectEqual((await log()).length, 0, 'the length of the log');
    expectEqual((await endOf(harness.prompt('say On.'))).status, 'complete', 'the next prompt');
  }),
  the('steering and decisions are validated before anything else [S4.12]', async ({ harness }) => {
    const run = harness.prompt('use look');
    for (const value of [null, 7, [null], [{ type: 'text' }]]) {
      for (const ear of harness.capabilities.steer ? [run, harness] : [run]) {
        const code = codeOf(() => ear.steer(value as unknown as string));
        expectEqual(code, 'bad_prompt', `the error for ${JSON.stringify(value)}`);
      }
    }
    for (const value of [null, 'allow', {}, { decision: 'maybe' }, { decision: true }]) {
      const code = codeOf(() => run.decide('some', value as unknown as ApprovalDecision));
      expectEqual(code, 'bad_decision', `the error for ${JSON.stringify(value)}`);
    }
    expectEqual((await endOf(run)).status, 'complete', 'the outcome');
  }),
  the('usage is counted once', async ({ harness }) => {
    const { metrics } = await endOf(harness.prompt('use look'));
    expectEqual(
      [metrics.invocations, metrics.toolCalls, metrics.totalInputTokens, metrics.totalOutputTokens],
      [2, 1, 240, 60],
      'the counts',
    );
  }),
  the('thirty prompts in sequence work [P18]', async ({ harness }) => {
    for (let turn = 1; turn <= 30; turn += 1) {
      expectEqual(
        (await endOf(harness.prompt('count'))).text,
        String(turn),
        'the number of messages that the model received',
      );
    }
  }),
];

const reading = group('readers');

export const readerCases: readonly HarnessCase[] = [
  reading('two readers and a late one see the same stored events', async ({ harness }) => {
    const run = harness.prompt('use look');
    const [one, two] = await Promise.all([storedOf(run), storedOf(run)]);
    const late = await storedOf(run);
    expectEqual(
      [JSON.stringify(two), JSON.stringify(late)],
      [JSON.stringify(one), JSON.stringify(one)],
      'the events of the readers',
    );
  }),
  reading('a reader that stops early does not affect the run', async ({ harness }) => {
    const run = harness.prompt('use look');
    await seen(run, 'user');
    expectEqual((await endOf(run)).status, 'complete', 'the outcome');
  }),
  reading('after the last event the next prompt can be sent immediately', async ({ harness }) => {
    await eventsOf(harness.prompt('say One.'));
    expectEqual((await endOf(harness.prompt('say Two.'))).text, 'Two.', 'the next prompt');
  }),
];

const showing = group('deltas', ['deltas']);
const midway = group('streaming', ['deltas', 'fork']);

export const deltaCases: readonly HarnessCase[] = [
  showing('text is emitted as it arrives and adds up to the stored text', async ({ harness }) => {
    const text = 'One two three four five six.';
    const events = await eventsOf(harness.prompt(`say ${text}`));
    const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
    expect(deltas.length > 1, 'more than one delta');
    expectEqual(deltas.join(''), text, 'the text');
  }),
  midway('a reader that starts in the middle of a response gets the text so far', async ({ harness }) => {
    const run = harness.prompt('begin Once upon');
    await shownSoFar(run, 'Once upon');
    const text = await shownSoFar(run, 'Once upon');
    expectEqual(text, 'Once upon', 'the text that a late reader gets');
    run.cancel();
    await endOf(run);
  }),
  midway('text received before a cancel is stored, and the model sees it', async ({ harness, log }) => {
    const run = harness.prompt('begin Once upon');
    await shownSoFar(run, 'Once upon');
    run.cancel();
    const { status, messages } = await endOf(run);
    expectEqual(status, 'cancelled', 'the status');
    expectEqual(messages.map(textOf).slice(0, 2), ['begin Once upon', 'Once upon'], 'the messages');
    assertValidHistory(messages);
    const failed = (await log()).find(({ type }) => type === 'ask_failed');
    expectEqual(
      failed?.type === 'ask_failed' && failed.partial,
      [{ type: 'text', text: 'Once upon' }],
      'the log',
    );
    const fork = await harness.fork();
    const next = await endOf(fork.prompt('say On.'));
    expect(next.messages.map(textOf).includes('Once upon'), 'the text in the conversation of a fork');
    await fork.close();
  }),
];

/** Reads a run until it has emitted this text. Returns all emitted text. */
function shownSoFar(run: Run, text: string): Promise<string> {
  const read = async () => {
    let shown = '';
    for await (const event of run) {
      if (event.type === 'text_delta') shown += event.text;
      if (event.type === 'text') shown = event.text;
      if (shown === text) break;
    }
    return shown;
  };
  return soon(read(), `the text ${text}`);
}

const closing = group('close');

export const closeCases: readonly HarnessCase[] = [
  closing('close stops running work and rejects later calls', async ({ harness, log }) => {
    const run = harness.prompt('hang');
    await seen(run, 'user');
    await soon(harness.close(), 'the harness to close');
    expectEqual((await endOf(run)).status, 'cancelled', 'the outcome');
    const before = (await log()).length;
    const result = await endOf(harness.prompt('say More.'));
    expectEqual([result.status, result.error?.code], ['failed', 'closed'], 'the outcome of a later prompt');
    expectEqual((await log()).length, before, 'the length of the log');
  }),
  closing('close can be called twice and without a running prompt', async ({ harness }) => {
    await soon(Promise.all([harness.close(), harness.close()]), 'the harness to close');
  }),
];
