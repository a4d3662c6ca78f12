import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SharedStore } from '../../src/harness/followed-run.ts';
import { followRun, receiveRequests, sharedStore } from '../../src/harness/followed-run.ts';
import { createHarness } from '../../src/harness/harness.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { sqliteStore } from '../../src/node/index.ts';
import type { Run } from '../../src/run/run.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';

const tool = defineTool({
  name: 'write',
  description: 'Writes.',
  parameters: { type: 'object' },
  execute: () => 'Written.',
});

/** Two stores of one file, which act like two processes, and a run of the first that waits for a decision. */
async function waitingRun() {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-followed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [own, other] = [1, 2].map(() => {
    const store = sqliteStore(join(folder, 'sessions.db'));
    onTestFinished(() => store.close());
    return sharedStore(store) as SharedStore & ReturnType<typeof sqliteStore>;
  });
  if (own === undefined || other === undefined) throw new Error('There is no store.');
  const agent = scriptedModel([
    calls([{ name: 'write' }]),
    textResponse('Done.'),
    textResponse('Also done.'),
  ]);
  const harness = createHarness({
    agent,
    tools: [tool],
    gate: () => ({ type: 'ask' }),
    attended: true,
    store: own,
    sessionId: 's',
  });
  const run = harness.prompt('Go.');
  const runtime = fakeRuntime();
  receiveRequests(own, run, { runtime });
  let approvalId = '';
  for await (const event of run) {
    if (event.type !== 'approval_requested') continue;
    approvalId = event.approvalId;
    break;
  }
  return { own, other, harness, run, runtime, approvalId };
}

/** Lets both processes look at the store until a promise is settled. */
async function until<Value>(promise: Promise<Value>, runtime: ReturnType<typeof fakeRuntime>) {
  let isOver = false;
  void promise.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await runtime.advance(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await promise;
}

const untilEnded = (run: Run, runtime: ReturnType<typeof fakeRuntime>) => until(run.result, runtime);

test('another process decides an approval and steers, and sees how the run ends', async () => {
  const { other, run, runtime, approvalId } = await waitingRun();
  const followed = (await followRun(other, 's', { runtime }))?.run;
  expect(followed?.id).toBe(run.id);
  expect(followed?.steer('And more.')).toBe(true);
  expect(followed?.decide(approvalId, { decision: 'allow' })).toBe(true);
  const result = await untilEnded(followed as Run, runtime);
  expect([result.status, result.text, (await run).status]).toEqual(['complete', 'Done.', 'complete']);
  const events = await other.read('s');
  expect(events.filter(({ type }) => type === 'approval_decided')).toMatchObject([{ decision: 'allow' }]);
  expect(events.filter((event) => event.type === 'user' && event.steer)).toHaveLength(1);
  expect(followed?.cancel()).toBe(false);
  await runtime.advance(1_000);
  expect(runtime.timers).toBe(0);
});

test('the sender of a message learns whether the run has received it or has ended without it', async () => {
  const { own, other, run, runtime, approvalId } = await waitingRun();
  const followed = await followRun(other, 's', { runtime });
  const sent = ['First.', 'First.', ' '].map((text) => followed?.steer(text));
  expect(await until(Promise.all(sent), runtime)).toEqual([true, true, false]);
  run.decide(approvalId, { decision: 'allow' });
  await run;
  // The process that ran it looks no more.
  const late = followed?.steer('Too late.');
  await untilEnded(followed?.run as Run, runtime);
  expect(await late).toBe(false);
  expect(await followed?.steer('Much too late.')).toBe(false);
  expect((await own.read('s')).filter(({ type }) => type === 'user')).toHaveLength(3);
});

test('another process cancels a run', async () => {
  const { other, run, runtime } = await waitingRun();
  const followed = (await followRun(other, 's', { runtime }))?.run;
  expect(followed?.cancel()).toBe(true);
  expect((await untilEnded(followed as Run, runtime)).status).toBe('cancelled');
  expect((await run).status).toBe('cancelled');
});

test('invalid requests have no effect', async () => {
  const { other, run, runtime, approvalId } = await waitingRun();
  for (const request of [
    '',
    'null',
    '[]',
    '{"type":"decide"}',
    `{"type":"decide","approvalId":"${approvalId}","answer":{"decision":"maybe"}}`,
    `{"type":"decide","approvalId":"${approvalId}"}`,
    '{"type":"steer","content":7}',
    '{"type":"stop"}',
  ])
    expect(await other.send('s', request)).toBe(true);
  await runtime.advance(1_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect((await other.read('s')).map(({ type }) => type)).toEqual([
    'user',
    'assistant',
    'approval_requested',
  ]);
  run.cancel();
  expect((await run).status).toBe('cancelled');
});

test('a run whose process ends fails for its followers, and can be resumed', async () => {
  const { own, other, runtime } = await waitingRun();
  const followed = (await followRun(other, 's', { runtime }))?.run;
  await own.close();
  const { status, error } = await untilEnded(followed as Run, runtime);
  expect([status, error?.code]).toEqual(['failed', 'no_ending']);
  expect((await other.info('s'))?.status).toBe('interrupted');
});

test('only an active run of a store that processes share is followed', async () => {
  const { other, run } = await waitingRun();
  run.cancel();
  await run;
  expect(await followRun(other, 's')).toBeUndefined();
  expect(await followRun(other, 'none')).toBeUndefined();
  expect(sharedStore(memoryStore())).toBeUndefined();
});
