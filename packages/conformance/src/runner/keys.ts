import { AgentError } from '@cobbler/agent';
import { maxQueued } from '@cobbler/agent/runner';
import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase, RunnerSetup } from './case.ts';
import { group } from './case.ts';

const the = group('key', 'keys');
const key = 'k';

/** Starts runs that write their names to one mark. */
async function turns(setup: RunnerSetup, names: readonly string[], more: object = {}): Promise<void> {
  for (const name of names)
    await setup.start(name, { workflow: 'turn', mark: setup.id('turns'), name, ...more }, { key });
}

function turnsTaken(setup: RunnerSetup): Promise<readonly string[]> {
  return setup.place.counter.list(setup.id('turns'));
}

function untilStarted(setup: RunnerSetup, name: string): Promise<void> {
  return setup.until(`${name} starts`, async () => (await turnsTaken(setup)).includes(`+${name}`));
}

/** Does something for each name, a few at a time, because an engine needs milliseconds for each. */
async function each(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < names.length; first += batch)
    await Promise.all(names.slice(first, first + batch).map(work));
}

const batch = 25;

export const keyCases: readonly RunnerCase[] = [
  the('runs with the same key run one after another in the order of their starts', async (setup) => {
    await turns(setup, ['a', 'b', 'c', 'd']);
    for (const name of ['d', 'c', 'b', 'a']) expectEqual(await setup.result(name), name, 'the result');
    expectEqual(
      await turnsTaken(setup),
      ['+a', '-a', '+b', '-b', '+c', '-c', '+d', '-d'],
      'the starts and ends of the runs',
    );
  }),
  the('a run whose key is in use is queued', async (setup) => {
    await turns(setup, ['a', 'b'], { wait: true });
    await untilStarted(setup, 'a');
    expectEqual(await setup.state('b'), 'queued', 'the state of the second run');
    await setup.signal('b', 'go');
    await setup.place.advance(20);
    expectEqual(await turnsTaken(setup), ['+a'], 'the starts and ends so far');
    await setup.signal('a', 'go');
    await setup.result('b');
    expectEqual(await turnsTaken(setup), ['+a', '-a', '+b', '-b'], 'the starts and ends of the runs');
  }),
  the('runs with different keys or without a key do not wait for each other', async (setup) => {
    const input = (name: string) => ({ workflow: 'turn', mark: setup.id('turns'), name, wait: true });
    await setup.start('a', input('a'), { key: 'one' });
    await setup.start('b', input('b'), { key: 'two' });
    await setup.start('c', input('c'));
    await setup.start('d', input('d'));
    for (const name of ['a', 'b', 'c', 'd']) await untilStarted(setup, name);
    for (const name of ['d', 'c', 'b', 'a']) await setup.signal(name, 'go');
    for (const name of ['a', 'b', 'c', 'd']) await setup.result(name);
  }),
  the('a start with whenBusy reject fails while the key is in use, and can be repeated', async (setup) => {
    await turns(setup, ['a'], { wait: true });
    const input = { workflow: 'echo', value: 1 };
    const start = () => setup.start('b', input, { key, whenBusy: 'reject' });
    const { kind, code } = await setup.refusal(start, 'the start');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'busy' }, 'the error');
    expectEqual(await setup.state('b'), 'unknown', 'the state');
    await setup.signal('a', 'go');
    await setup.result('a');
    expectEqual(await start(), true, 'whether the run was started when the key was free');
    await setup.result('b');
  }),
  the('at most 1,000 runs of a key wait [P29]', async (setup) => {
    await turns(setup, ['a'], { wait: true });
    await untilStarted(setup, 'a');
    const input = { workflow: 'echo', value: 1 };
    const names = Array.from({ length: maxQueued }, (_, number) => `q${number}`);
    await each(names, (name) => setup.start(name, input, { key }));
    const start = () => setup.start('last', input, { key });
    const { kind, code } = await setup.refusal(start, 'the start of one more');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'busy' }, 'the error');
    expectEqual(await setup.state('last'), 'unknown', 'the state');
    expectEqual(await setup.start('q7', input, { key }), false, 'whether a queued run was started again');
    expectEqual(await setup.start('other', input, { key: 'other' }), true, 'whether another key has room');
    await setup.cancel('q0');
    // An engine can free the place a little later.
    const isStarted = () =>
      start().catch((thrown) => {
        if (AgentError.is(thrown) && thrown.code === 'busy') return false;
        throw thrown;
      });
    await setup.until('there is room for one more', isStarted);
    await each([...names.slice(1), 'last'], (name) => setup.cancel(name));
    await setup.signal('a', 'go');
    for (const name of ['a', 'other']) await setup.result(name);
  }),
  the('starting a running run again is never busy', async (setup) => {
    await turns(setup, ['a'], { wait: true });
    const again = await setup.start('a', { workflow: 'echo' }, { key, whenBusy: 'reject' });
    expectEqual(again, false, 'whether the run was started');
  }),
  the('a failed run releases its key', async (setup) => {
    await turns(setup, ['a', 'b'], { fails: true });
    await setup.failure('a');
    await setup.failure('b');
    expectEqual(await turnsTaken(setup), ['+a', '-a', '+b', '-b'], 'the starts and ends of the runs');
  }),
  the('a cancelled run releases its key', async (setup) => {
    await turns(setup, ['a', 'b', 'c'], { wait: true });
    await untilStarted(setup, 'a');
    await setup.cancel('a');
    await untilStarted(setup, 'b');
    await setup.signal('b', 'go');
    await setup.signal('c', 'go');
    await setup.result('c');
    expectEqual(await turnsTaken(setup), ['+a', '+b', '-b', '+c', '-c'], 'the starts and ends of the runs');
  }),
  the('a run that is cancelled during a step releases its key', async (setup) => {
    await setup.start('a', { workflow: 'hanging' }, { key });
    await setup.untilReached('a', 'in');
    await setup.cancel('a');
    await turns(setup, ['b']);
    expectEqual(await setup.result('b'), 'b', 'the result of the next run');
  }),
  the('a queued run that is cancelled never starts', async (setup) => {
    await turns(setup, ['a', 'b', 'c'], { wait: true });
    expectEqual(await setup.cancel('b'), true, 'whether the run was cancelled');
    expectEqual(await setup.state('b'), 'cancelled', 'the state');
    await setup.signal('a', 'go');
    await setup.signal('c', 'go');
    await setup.result('c');
    expectEqual(await turnsTaken(setup), ['+a', '-a', '+c', '-c'], 'the starts and ends of the runs');
  }),
  group(
    'key',
    'keys',
    'reopen',
  )('the order is kept when the runner is reopened', async (setup) => {
    await turns(setup, ['a', 'b', 'c'], { wait: true });
    await untilStarted(setup, 'a');
    await setup.reopen();
    for (const name of ['c', 'b']) await setup.signal(name, 'go');
    await setup.place.advance(20);
    expectEqual(await turnsTaken(setup), ['+a'], 'the starts and ends so far');
    await setup.signal('a', 'go');
    await setup.result('c');
    expectEqual(
      await turnsTaken(setup),
      ['+a', '-a', '+b', '-b', '+c', '-c'],
      'the starts and ends of the runs',
    );
  }),
];
