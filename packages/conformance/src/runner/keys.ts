import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase, RunnerStage } from './cases.ts';
import { group } from './cases.ts';

const the = group('key', 'keys');
const key = 'k';

/** Starts runs that write their names to one mark. */
async function turns(stage: RunnerStage, names: readonly string[], more: object = {}): Promise<void> {
  for (const name of names)
    await stage.start(name, { routine: 'turn', mark: stage.id('turns'), name, ...more }, { key });
}

function taken(stage: RunnerStage): Promise<readonly string[]> {
  return stage.place.counter.list(stage.id('turns'));
}

function begun(stage: RunnerStage, name: string): Promise<void> {
  return stage.until(`${name} starts`, async () => (await taken(stage)).includes(`+${name}`));
}

export const keyCases: readonly RunnerCase[] = [
  the('runs with the same key run one after another in the order of their starts', async (stage) => {
    await turns(stage, ['a', 'b', 'c', 'd']);
    for (const name of ['d', 'c', 'b', 'a']) expectEqual(await stage.result(name), name, 'the result');
    expectEqual(
      await taken(stage),
      ['+a', '-a', '+b', '-b', '+c', '-c', '+d', '-d'],
      'the starts and ends of the runs',
    );
  }),
  the('a run whose key is in use is queued', async (stage) => {
    await turns(stage, ['a', 'b'], { wait: true });
    await begun(stage, 'a');
    expectEqual(await stage.state('b'), 'queued', 'the state of the second run');
    await stage.signal('b', 'go');
    await stage.place.advance(20);
    expectEqual(await taken(stage), ['+a'], 'the starts and ends so far');
    await stage.signal('a', 'go');
    await stage.result('b');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b'], 'the starts and ends of the runs');
  }),
  the('runs with different keys or without a key do not wait for each other', async (stage) => {
    const input = (name: string) => ({ routine: 'turn', mark: stage.id('turns'), name, wait: true });
    await stage.start('a', input('a'), { key: 'one' });
    await stage.start('b', input('b'), { key: 'two' });
    await stage.start('c', input('c'));
    await stage.start('d', input('d'));
    for (const name of ['a', 'b', 'c', 'd']) await begun(stage, name);
    for (const name of ['d', 'c', 'b', 'a']) await stage.signal(name, 'go');
    for (const name of ['a', 'b', 'c', 'd']) await stage.result(name);
  }),
  the('a start with whenBusy reject fails while the key is in use, and can be repeated', async (stage) => {
    await turns(stage, ['a'], { wait: true });
    const input = { routine: 'echo', value: 1 };
    const start = () => stage.start('b', input, { key, whenBusy: 'reject' });
    const { kind, code } = await stage.refusal(start, 'the start');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'busy' }, 'the error');
    expectEqual(await stage.state('b'), 'unknown', 'the state');
    await stage.signal('a', 'go');
    await stage.result('a');
    expectEqual(await start(), true, 'whether the run was started when the key was free');
    await stage.result('b');
  }),
  the('starting a running run again is never busy', async (stage) => {
    await turns(stage, ['a'], { wait: true });
    const again = await stage.start('a', { routine: 'echo' }, { key, whenBusy: 'reject' });
    expectEqual(again, false, 'whether the run was started');
  }),
  the('a failed run releases its key', async (stage) => {
    await turns(stage, ['a', 'b'], { fails: true });
    await stage.failure('a');
    await stage.failure('b');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b'], 'the starts and ends of the runs');
  }),
  the('a cancelled run releases its key', async (stage) => {
    await turns(stage, ['a', 'b', 'c'], { wait: true });
    await begun(stage, 'a');
    await stage.cancel('a');
    await begun(stage, 'b');
    await stage.signal('b', 'go');
    await stage.signal('c', 'go');
    await stage.result('c');
    expectEqual(await taken(stage), ['+a', '+b', '-b', '+c', '-c'], 'the starts and ends of the runs');
  }),
  the('a queued run that is cancelled never starts', async (stage) => {
    await turns(stage, ['a', 'b', 'c'], { wait: true });
    expectEqual(await stage.cancel('b'), true, 'whether the run was cancelled');
    expectEqual(await stage.state('b'), 'cancelled', 'the state');
    await stage.signal('a', 'go');
    await stage.signal('c', 'go');
    await stage.result('c');
    expectEqual(await taken(stage), ['+a', '-a', '+c', '-c'], 'the starts and ends of the runs');
  }),
  group(
    'key',
    'keys',
    'reopen',
  )('the order is kept when the runner is reopened', async (stage) => {
    await turns(stage, ['a', 'b', 'c'], { wait: true });
    await begun(stage, 'a');
    await stage.reopen();
    for (const name of ['c', 'b']) await stage.signal(name, 'go');
    await stage.place.advance(20);
    expectEqual(await taken(stage), ['+a'], 'the starts and ends so far');
    await stage.signal('a', 'go');
    await stage.result('c');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b', '+c', '-c'], 'the starts and ends of the runs');
  }),
];
