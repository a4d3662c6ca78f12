import { AgentError } from '@cobbler/agent';
import { expect, test } from 'vitest';
import type { RestateRunner } from '../src/index.ts';
import { restateRunner } from '../src/index.ts';

/** Calls a method with a value of any type. */
type Call = (runner: RestateRunner, odd: never) => unknown;

const calls: Readonly<Record<string, Call>> = {
  'start: options': (runner, odd) => runner.start('input', odd),
  'start: options.key': (runner, odd) => runner.start('input', { runId: 'run', key: odd }),
  'signal: runId': (runner, odd) => runner.signal(odd, 'name', null),
  'signal: name': (runner, odd) => runner.signal('run', odd, null),
  'cancel: runId': (runner, odd) => runner.cancel(odd),
  'status: runId': (runner, odd) => runner.status(odd),
  'result: runId': (runner, odd) => runner.result(odd),
  'result: options': (runner, odd) => runner.result('run', odd),
};

const revocable = Proxy.revocable({}, {});
revocable.revoke();
const odds: readonly unknown[] = [null, Number.NaN, 7n, Symbol('odd'), [null], revocable.proxy];

test.each(Object.entries(calls))('%s is read before the engine is called [P26]', async (_, call) => {
  const runner = restateRunner({
    workflow: async () => null,
    ingress: 'http://127.0.0.1:9',
    port: 0,
    patienceMs: 1,
  });
  for (const odd of odds) {
    const attempt = async () => await call(runner, odd as never);
    const error: unknown = await attempt().catch((thrown: unknown) => thrown);
    expect(AgentError.is(error) && error.code, String(error)).toMatch(/^(bad_option|run_id)$/);
  }
  await runner.close();
});
