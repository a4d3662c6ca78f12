import type { Json } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Routine } from '@cobbler/agent/runner';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RestateRunner, RestateRunnerOptions } from '../src/index.ts';
import { restateRunner } from '../src/index.ts';
import { announce, describeWith } from './missing.ts';
import type { RestateCluster } from './restate-server.ts';
import { freePort, missingRestate, startRestate } from './restate-server.ts';

const missing = missingRestate();
announce('the Restate runner', missing);

let cluster: RestateCluster;
let services = 0;
const opened: RestateRunner[] = [];

beforeAll(async () => {
  if (missing === undefined) cluster = await startRestate();
}, 120_000);

afterAll(async () => {
  for (const runner of opened) await runner.close();
  await cluster?.stop();
});

function service(): string {
  services += 1;
  return `own${process.pid}x${services}`;
}

async function open(
  routine: Routine,
  options: Partial<RestateRunnerOptions<Json, Json>> = {},
): Promise<RestateRunner> {
  const { ingress, admin } = cluster;
  const runner = restateRunner({ routine, ingress, admin, port: 0, service: service(), ...options });
  opened.push(runner);
  await runner.ready();
  return runner;
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return AgentError.is(error) ? error.code : String(error);
  }
}

/** Something that is waited for from outside. */
function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
}

const here = (name: string, define: () => void) => describeWith(missing, name, define);

here('versions', () => {
  it('a run of another version is not replayed but fails with code version, and the next has its turn [P13]', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    const older = await open(
      async (_input, steps) => {
        await steps.run('first', () => 1);
        begun.open();
        await steps.waitFor('go');
        return 'older';
      },
      { ...own, version: '1' },
    );
    await older.start(null, { runId: 'one', key: 'k' });
    await begun.passed;
    await older.close();
    const newer = await open(async () => 'newer', { ...own, version: '2' });
    await newer.start(null, { runId: 'two', key: 'k' });
    await newer.signal('one', 'go', null);
    expect(await codeOf(newer.result('one'))).toMatch(/^(routine_version|replay)$/);
    expect(await newer.result('two')).toBe('newer');
  });

  it('a run that has not begun yet fails with code version [P13]', async () => {
    const own = { service: service(), port: await freePort() };
    const older = await open(
      async (_input, steps) => {
        await steps.waitFor('go');
        return 'older';
      },
      { ...own, version: '1' },
    );
    await older.start(null, { runId: 'one', key: 'k' });
    await older.start(null, { runId: 'two', key: 'k' });
    await older.cancel('one');
    await older.close();
    const newer = await open(async () => 'newer', { ...own, version: '2', replays: [] });
    const code = await codeOf(newer.result('two'));
    // Its turn may have come while the older version was still there.
    expect(code).toMatch(/^(routine_version|replay)$/);
  });

  it('a version that is known is taken up', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    const routine: Routine = async (_input, steps) => {
      const { value } = await steps.run('first', () => 1);
      begun.open();
      await steps.waitFor('go');
      return value;
    };
    const older = await open(routine, { ...own, version: '1' });
    await older.start(null, { runId: 'one' });
    await begun.passed;
    await older.close();
    const newer = await open(routine, { ...own, version: '2', replays: ['1'] });
    await newer.signal('one', 'go', null);
    expect(await newer.result('one')).toBe(1);
  });

  it('a routine that does other things than before fails the run with code replay, and does not run on', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    const before: Routine = async (_input, steps) => {
      await steps.run('first', () => 1);
      begun.open();
      await steps.waitFor('go');
      return 'before';
    };
    const runner = await open(before, own);
    await runner.start(null, { runId: 'one' });
    await begun.passed;
    await runner.close();
    let isReached = false;
    const after: Routine = async (_input, steps) => {
      await steps.sleep('pause', 5);
      isReached = true;
      return 'after';
    };
    const changed = await open(after, own);
    expect(await codeOf(changed.result('one'))).toBe('replay');
    expect(isReached).toBe(false);
  });
});

here('several processes', () => {
  it('may make the same handlers known at once, and any of them starts, signals and asks', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    const worker = await open(async (input, steps) => {
      begun.open();
      return [input, (await steps.waitFor('go')) ?? null];
    }, own);
    const { url } = { url: await worker.ready() };
    const others = await Promise.all(
      Array.from({ length: 4 }, () => open(async () => 'nobody', { service: own.service, address: url })),
    );
    const [one, two, three] = others as [RestateRunner, RestateRunner, RestateRunner];
    expect(await one.start('in', { runId: 'one' })).toBe(true);
    expect(await two.start('other', { runId: 'one' })).toBe(false);
    await begun.passed;
    expect(await two.signal('one', 'go', 'said')).toBe(true);
    expect(await three.result('one')).toEqual(['in', 'said']);
  });

  it('handlers that have taken the place of others at an address are made known', async () => {
    const port = await freePort();
    const before = await open(async () => 'before', { port });
    await before.close();
    const after = await open(async () => 'after', { port });
    await after.start(null, { runId: 'one' });
    expect(await after.result('one')).toBe('after');
  });

  it('a cancel from another process stops a step that is at work', async () => {
    const own = { service: service(), port: await freePort() };
    const [begun, ended] = [gate(), gate()];
    const worker = await open(async (_input, steps) => {
      await steps.run('long', async ({ signal }) => {
        begun.open();
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        ended.open();
        return null;
      });
      return null;
    }, own);
    const other = await open(async () => null, { service: own.service, address: await worker.ready() });
    await other.start(null, { runId: 'one' });
    await begun.passed;
    expect(await other.cancel('one')).toBe(true);
    await ended.passed;
    expect((await worker.status('one')).state).toBe('cancelled');
  });

  it('a port that somebody else has is told of', async () => {
    const port = await freePort();
    await open(async () => null, { port });
    const second = restateRunner({ routine: async () => null, ingress: cluster.ingress, port });
    expect(await codeOf(second.ready())).toBe('listen');
    expect(await codeOf(second.start(null, { runId: 'one' }))).toBe('listen');
    await second.close();
  });

  it('an engine that does not answer is told of within the time', async () => {
    const runner = restateRunner({
      routine: async () => null,
      ingress: ['http://127.0.0.1:1', 'http://127.0.0.1:2'],
      port: 0,
      patienceMs: 300,
    });
    await expect(runner.start(null, { runId: 'one' })).rejects.toMatchObject({
      kind: 'network',
      code: 'engine',
    });
    await runner.close();
  });
});

here('a step', () => {
  it('that was shut out of its session by an attempt given up before is tried again, not recorded [P13]', async () => {
    let tries = 0;
    const runner = await open(async (_input, steps) => {
      const { value } = await steps.run('fenced twice', () => {
        tries += 1;
        if (tries <= 2) throw new AgentError({ kind: 'agent', code: 'fenced', message: 'taken over' });
        return tries;
      });
      return value;
    });
    await runner.start(null, { runId: 'one' });
    expect(await runner.result('one')).toBe(3);
  });

  it('at work when the runner closes may come to its end, and is not done again', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    let runs = 0;
    const routine: Routine = async (_input, steps) => {
      const { value } = await steps.run('slow', async () => {
        runs += 1;
        begun.open();
        await new Promise((resolve) => setTimeout(resolve, 200));
        return runs;
      });
      await steps.waitFor('go');
      return value;
    };
    const runner = await open(routine, { ...own, drainMs: 5000 });
    await runner.start(null, { runId: 'one' });
    await begun.passed;
    await runner.close();
    const next = await open(routine, own);
    await next.signal('one', 'go', null);
    expect(await next.result('one')).toBe(1);
    expect(runs).toBe(1);
  });

  it('branches go on by themselves while another waits', async () => {
    const runner = await open(async (_input, steps) => {
      const branch = async (name: string) => {
        const first = await steps.run(`${name}/1`, () => 1);
        const second = await steps.run(`${name}/2`, () => first.value + 1);
        return second.value;
      };
      const waiting = steps.waitFor('go', { timeoutMs: 30_000 });
      const sums = await Promise.all([branch('a'), branch('b')]);
      await steps.run('said', () => null);
      return [...sums, (await waiting) ?? null];
    });
    await runner.start(null, { runId: 'one' });
    await runner.signal('one', 'go', 'x');
    expect(await runner.result('one')).toEqual([2, 2, 'x']);
  });
});
