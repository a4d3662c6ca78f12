import type { Json } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Workflow } from '@cobbler/agent/runner';
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
  workflow: Workflow,
  options: Partial<RestateRunnerOptions<Json, Json>> = {},
): Promise<RestateRunner> {
  const { ingress, admin } = cluster;
  const runner = restateRunner({ workflow, ingress, admin, port: 0, service: service(), ...options });
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

/** Returns a promise, and the function that resolves it. */
function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
}

const here = (name: string, define: () => void) => describeWith(missing, name, define);

here('a changed workflow', () => {
  it('continues a run that an older version started, even if their steps differ [P13]', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    const older = await open(async (_input, steps) => {
      await steps.run('first', () => 1);
      begun.open();
      return (await steps.waitFor('go')) ?? null;
    }, own);
    await older.start(null, { runId: 'one', key: 'k' });
    await older.start(null, { runId: 'two', key: 'k' });
    await begun.passed;
    await older.close();
    const newer = await open(async (_input, steps) => {
      const came = await steps.waitFor('go');
      await steps.run('other', () => 1);
      await steps.run('more', () => 1);
      return ['newer', came ?? null];
    }, own);
    await newer.signal('one', 'go', 1);
    await newer.signal('two', 'go', 2);
    expect(await newer.result('one')).toEqual(['newer', 1]);
    expect(await newer.result('two')).toEqual(['newer', 2]);
  });
});

here('several processes', () => {
  it('can register the same handlers at the same time, and each can start, signal and query runs', async () => {
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

  it('register handlers that replace others at the same address', async () => {
    const port = await freePort();
    const before = await open(async () => 'before', { port });
    await before.close();
    const after = await open(async () => 'after', { port });
    await after.start(null, { runId: 'one' });
    expect(await after.result('one')).toBe('after');
  });

  it('can cancel a running step of another process', async () => {
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

  it('report a port that is already in use', async () => {
    const port = await freePort();
    await open(async () => null, { port });
    const second = restateRunner({ workflow: async () => null, ingress: cluster.ingress, port });
    expect(await codeOf(second.ready())).toBe('listen');
    expect(await codeOf(second.start(null, { runId: 'one' }))).toBe('listen');
    await second.close();
  });

  it('report within a time limit that the engine does not respond', async () => {
    const runner = restateRunner({
      workflow: async () => null,
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
  it('is retried after a fencing error, which an abandoned attempt can cause [P13]', async () => {
    let tries = 0;
    const runner = await open(async (_input, steps) =>
      steps.run('fenced twice', () => {
        tries += 1;
        if (tries <= 2) throw new AgentError({ kind: 'agent', code: 'fenced', message: 'taken over' });
        return tries;
      }),
    );
    await runner.start(null, { runId: 'one' });
    expect(await runner.result('one')).toBe(3);
  });

  it('can finish while the runner closes, and its checkpoint then ends the call', async () => {
    const own = { service: service(), port: await freePort() };
    const begun = gate();
    let done = 0;
    const calls: string[] = [];
    const workflow =
      (name: string): Workflow =>
      async (_input, steps) => {
        calls.push(name);
        if (done === 0) {
          await steps.run('slow', async () => {
            begun.open();
            await new Promise((resolve) => setTimeout(resolve, 200));
            done += 1;
          });
          await steps.checkpoint();
        }
        return (await steps.waitFor('go')) ?? done;
      };
    const runner = await open(workflow('first'), { ...own, drainMs: 5000 });
    await runner.start(null, { runId: 'one' });
    await begun.passed;
    await runner.close();
    const next = await open(workflow('second'), own);
    await next.signal('one', 'go', null);
    expect(await next.result('one')).toBe(1);
    expect(done).toBe(1);
    expect(calls).toContain('second');
  });
});
