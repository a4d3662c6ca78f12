import type { Runtime, Store } from '@cobbler/agent';
import { AgentError, Executor, memoryStore, openSession, systemRuntime } from '@cobbler/agent';
import { memoryRunner, sessionWorkflow } from '@cobbler/agent/runner';
import { runnerHarness } from '@cobbler/agent/runner-harness';
import { describe, expect, it } from 'vitest';
import { harnessFixture } from '../src/harness/fixture.ts';
import { harnessContract } from '../src/harness/harness-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { onRunner } from './runner-harness-subject.ts';

describe('a harness with a runner', () => {
  describeContract(harnessContract(onRunner), { describe, it });
});

describe('two harnesses of one session with a runner', () => {
  it('reject a second prompt during a run, which the second harness can join and cancel', async () => {
    const store = memoryStore();
    const executor = new Executor({ ...harnessFixture(), store });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => executor }) });
    const open = () => runnerHarness({ runner, store, executor, sessionId: 'one', pollMs: 5 });
    const [first, second] = [open(), open()];
    const run = first.prompt('hang');
    for await (const event of run) if (event.type === 'user') break;
    const events: string[] = [];
    const refused = second.prompt('say Hi.');
    for await (const event of refused) events.push(event.type);
    expect(events).toEqual(['started', 'finished']);
    expect((await refused.result).error?.code).toBe('busy');
    const joined = await second.join();
    expect(joined?.run.id).toBe(run.id);
    expect(second.cancel()).toBe(true);
    expect((await run.result).status).toBe('cancelled');
    expect((await joined?.run.result)?.status).toBe('cancelled');
    await runner.close();
  });
});

describe('a compaction that is asked for', () => {
  it('is refused instead of continuing the work', async () => {
    const store = memoryStore();
    const executor = new Executor({ ...harnessFixture(), store });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => executor }) });
    const harness = runnerHarness({ runner, store, executor, sessionId: 'one', pollMs: 1 });
    await harness.prompt('say Hi.').result;
    const { seq } = await openSession(store, 'one');
    const { error } = await harness.resume({ compact: {} }).result;
    expect([error?.code, (await openSession(store, 'one')).seq]).toEqual(['unsupported', seq]);
    await runner.close();
  });
});

describe('a prompt right after the end of a run', () => {
  /** Prompts twice; the runner releases the session after the given number of attempts to start the second run. */
  async function promptedTwice(attempts: number) {
    const store = memoryStore();
    const executor = new Executor({ ...harnessFixture(), store });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => executor }) });
    const first = runnerHarness({ runner, store, executor, sessionId: 'one', pollMs: 1 });
    await first.prompt('say Hi.').result;
    let left = attempts;
    const start = runner.start.bind(runner);
    runner.start = async (...given) => {
      left -= 1;
      if (left >= 0) throw new AgentError({ kind: 'invalid', code: 'busy', message: 'The key is in use.' });
      return await start(...given);
    };
    // Time passes only while the harness waits.
    let time = 0;
    const timer: Runtime['timer'] = (ms, fire) => {
      time += ms;
      setImmediate(fire);
      return () => {};
    };
    const runtime = { ...systemRuntime, timer, monotonic: () => time };
    const second = runnerHarness({ runner, store, executor, sessionId: 'one', pollMs: 100, runtime });
    const result = await second.prompt('say Hi again.').result;
    await runner.close();
    return result;
  }

  it('waits until the runner has released the session', async () => {
    expect((await promptedTwice(3)).status).toBe('complete');
  });

  it('is refused if the runner does not release the session within 5 seconds', async () => {
    expect((await promptedTwice(51)).error?.code).toBe('busy');
    expect((await promptedTwice(50)).status).toBe('complete');
  });
});

describe('a prompt after the log contains the end of the run, which the harness has not seen yet', () => {
  /** Prompts a harness whose timers stop as soon as it has reported the user message. */
  async function promptedUnseen(content: string) {
    const store = memoryStore();
    const executor = new Executor({ ...harnessFixture(), store });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => executor }) });
    let isAsleep = false;
    const timer: Runtime['timer'] = (_ms, fire) => {
      setImmediate(() => isAsleep || fire());
      return () => {};
    };
    const runtime = { ...systemRuntime, timer };
    const harness = runnerHarness({ runner, store, executor, sessionId: 'one', runtime });
    const first = harness.prompt(content);
    for await (const event of first) if (event.type === 'user') break;
    isAsleep = true;
    const wake = () => {
      isAsleep = false;
    };
    return { store, runner, harness, first, wake };
  }

  it('is accepted, and a second one at the same time is refused', async () => {
    const { store, runner, harness, first, wake } = await promptedUnseen('hang');
    await runner.cancel(first.id);
    await expect.poll(async () => (await store.read('one')).at(-1)?.type).toBe('finished');
    const [second, third] = [harness.prompt('hang'), harness.prompt('hang')];
    expect((await third.result).error?.code).toBe('busy');
    expect((await first.result).status).toBe('cancelled');
    wake();
    for await (const event of second) if (event.type === 'user') break;
    expect(harness.cancel()).toBe(true);
    expect((await second.result).status).toBe('cancelled');
    await runner.close();
  });

  it('is refused if the log has no end', async () => {
    const { runner, harness, first, wake } = await promptedUnseen('hang');
    expect((await harness.prompt('say Hi.').result).error?.code).toBe('busy');
    expect(harness.cancel()).toBe(true);
    wake();
    expect((await first.result).status).toBe('cancelled');
    await runner.close();
  });
});

describe('resuming a session that does not exist', () => {
  it('fails without retries', async () => {
    const store = memoryStore();
    const executor = new Executor({ ...harnessFixture(), store });
    let attempts = 0;
    const advance: Executor['advance'] = (options) => {
      attempts += 1;
      return executor.advance(options);
    };
    const counted = Object.assign(Object.create(executor) as Executor, { advance });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => counted }) });
    const harness = runnerHarness({ runner, store, executor, pollMs: 1 });
    expect((await harness.resume().result).error).toMatchObject({ code: 'no_session', retryable: false });
    expect(attempts).toBe(1);
    await runner.close();
  });
});

describe('following a run with a runner', () => {
  const away = (retryable: boolean) =>
    new AgentError({
      kind: 'agent',
      code: 'store_unreachable',
      message: 'The store cannot be reached.',
      retryable,
    });

  /** Follows a run whose log cannot be read for the given number of reads. */
  async function followed(times: number, retryable: boolean) {
    const store = memoryStore();
    const executor = new Executor({ ...harnessFixture(), store });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => executor }) });
    let left = times;
    const read: Store['read'] = async (...range) => {
      if (range[1] === undefined || range[1] === 0) return await store.read(...range);
      left -= 1;
      if (left >= 0) throw away(retryable);
      return await store.read(...range);
    };
    const harness = runnerHarness({ runner, store: { ...store, read }, executor, pollMs: 1 });
    const told: string[] = [];
    await harness.prompt('say Hi.').result;
    const run = harness.prompt('say Hi again.');
    for await (const event of run) told.push(event.type);
    const result = await run.result;
    await runner.close();
    return { told, result, left };
  }

  it('continues after a store was temporarily unreachable, and emits each event once [P13]', async () => {
    const { told, result, left } = await followed(3, true);
    expect([result.status, left < 0]).toEqual(['complete', true]);
    expect(told).toEqual(['started', 'user', 'assistant', 'finished']);
  });

  it('ends if the store reports a permanent error', async () => {
    const { result } = await followed(3, false);
    expect([result.status, result.error?.code]).toEqual(['failed', 'store_unreachable']);
  });
});
