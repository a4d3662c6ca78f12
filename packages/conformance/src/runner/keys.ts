import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase, RunnerStage } from './cases.ts';
import { group } from './cases.ts';

const the = group('key', 'keys');
const key = 'k';

/** Starts runs that leave their names under one mark. */
async function turns(stage: RunnerStage, names: readonly string[], more: object = {}): Promise<void> {
  for (const name of names)
    await stage.start(name, { routine: 'turn', mark: stage.id('turns'), name, ...more }, { key });
}

function taken(stage: RunnerStage): Promise<readonly string[]> {
  return stage.place.counter.list(stage.id('turns'));
}

function begun(stage: RunnerStage, name: string): Promise<void> {
  return stage.until(`${name} begins`, async () => (await taken(stage)).includes(`+${name}`));
}

export const keyCases: readonly RunnerCase[] = [
  the('runs with one key are worked off one after another as they were started', async (stage) => {
    await turns(stage, ['a', 'b', 'c', 'd']);
    for (const name of ['d', 'c', 'b', 'a']) expectEqual(await stage.result(name), name, 'the result');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b', '+c', '-c', '+d', '-d'], 'the turns');
  }),
  the('a run whose key is taken waits for its turn', async (stage) => {
    await turns(stage, ['a', 'b'], { wait: true });
    await begun(stage, 'a');
    expectEqual(await stage.state('b'), 'queued', 'the state of the second');
    await stage.signal('b', 'go');
    await stage.place.advance(20);
    expectEqual(await taken(stage), ['+a'], 'the turns so far');
    await stage.signal('a', 'go');
    await stage.result('b');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b'], 'the turns');
  }),
  the('runs with different keys, and those without, do not wait for each other', async (stage) => {
    const input = (name: string) => ({ routine: 'turn', mark: stage.id('turns'), name, wait: true });
    await stage.start('a', input('a'), { key: 'one' });
    await stage.start('b', input('b'), { key: 'two' });
    await stage.start('c', input('c'));
    await stage.start('d', input('d'));
    for (const name of ['a', 'b', 'c', 'd']) await begun(stage, name);
    for (const name of ['d', 'c', 'b', 'a']) await stage.signal(name, 'go');
    for (const name of ['a', 'b', 'c', 'd']) await stage.result(name);
  }),
  the('who does not want to wait is refused, and may come again', async (stage) => {
    await turns(stage, ['a'], { wait: true });
    const input = { routine: 'echo', value: 1 };
    const start = () => stage.start('b', input, { key, whenBusy: 'reject' });
    const { kind, code } = await stage.refusal(start, 'the start');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'busy' }, 'the refusal');
    expectEqual(await stage.state('b'), 'unknown', 'the state');
    await stage.signal('a', 'go');
    await stage.result('a');
    expectEqual(await start(), true, 'whether it was started when the key was free');
    await stage.result('b');
  }),
  the('starting a run again is never busy', async (stage) => {
    await turns(stage, ['a'], { wait: true });
    const again = await stage.start('a', { routine: 'echo' }, { key, whenBusy: 'reject' });
    expectEqual(again, false, 'whether it was started');
  }),
  the('a run that fails makes room for the next', async (stage) => {
    await turns(stage, ['a', 'b'], { fails: true });
    await stage.failure('a');
    await stage.failure('b');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b'], 'the turns');
  }),
  the('a run that is cancelled makes room for the next', async (stage) => {
    await turns(stage, ['a', 'b', 'c'], { wait: true });
    await begun(stage, 'a');
    await stage.cancel('a');
    await begun(stage, 'b');
    await stage.signal('b', 'go');
    await stage.signal('c', 'go');
    await stage.result('c');
    expectEqual(await taken(stage), ['+a', '+b', '-b', '+c', '-c'], 'the turns');
  }),
  the('a run that is cancelled before its turn never begins', async (stage) => {
    await turns(stage, ['a', 'b', 'c'], { wait: true });
    expectEqual(await stage.cancel('b'), true, 'whether it was cancelled');
    expectEqual(await stage.state('b'), 'cancelled', 'the state');
    await stage.signal('a', 'go');
    await stage.signal('c', 'go');
    await stage.result('c');
    expectEqual(await taken(stage), ['+a', '-a', '+c', '-c'], 'the turns');
  }),
  group(
    'key',
    'keys',
    'reopen',
  )('the order holds when the runner is opened again', async (stage) => {
    await turns(stage, ['a', 'b', 'c'], { wait: true });
    await begun(stage, 'a');
    await stage.reopen();
    for (const name of ['c', 'b']) await stage.signal(name, 'go');
    await stage.place.advance(20);
    expectEqual(await taken(stage), ['+a'], 'the turns so far');
    await stage.signal('a', 'go');
    await stage.result('c');
    expectEqual(await taken(stage), ['+a', '-a', '+b', '-b', '+c', '-c'], 'the turns');
  }),
];
