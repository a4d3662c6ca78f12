import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteRunner } from '@cobbler/agent/node';
import type { Routine, StepCall } from '@cobbler/agent/runner';

/** The files of one crash drill: the journal, and the effects of the steps. */
export function runnerFiles(folder: string): { readonly runs: string; readonly effects: string } {
  return { runs: join(folder, 'runs.db'), effects: join(folder, 'effects.txt') };
}

/** The output of the run, however often it is killed. */
export const crashOutput: readonly unknown[] = [1, 'caught broken', [10, 20, 30], 'signalled', 5];

/** Returns how often each step ran, and with which keys. */
export function effectsOf(folder: string): Map<string, string[]> {
  const { effects } = runnerFiles(folder);
  const found = new Map<string, string[]>();
  if (!existsSync(effects)) return found;
  for (const line of readFileSync(effects, 'utf8').split('\n').slice(0, -1)) {
    const [name = '', key = ''] = line.split(' ');
    found.set(name, [...(found.get(name) ?? []), key]);
  }
  return found;
}

/** A routine with every kind of step. Each step adds a line where a crash cannot undo it. */
function routineOf(folder: string, at: () => void): Routine {
  const { effects } = runnerFiles(folder);
  const effect =
    <Value>(value: Value) =>
    ({ name, idempotencyKey }: StepCall) => {
      at();
      appendFileSync(effects, `${name} ${idempotencyKey}\n`);
      at();
      if (value === 'broken') throw new Error('broken');
      return value;
    };
  return async (_input, steps) => {
    const first = await steps.run('first', effect(1));
    const caught = await steps
      .run('failing', effect('broken'))
      .then(String, (error) => `caught ${error.message}`);
    setTimeout(at, 5);
    await steps.sleep('pause', 15);
    const beside = await Promise.all(
      [10, 20, 30].map((value) => steps.run(`beside-${value}`, effect(value))),
    );
    setTimeout(at, 5);
    const came = await steps.waitFor('go');
    const last = await steps.run('last', effect(5));
    return [first.value, caught, beside.map(({ value }) => value), came ?? 'nothing', last.value];
  };
}

/** Starts or resumes the run, signals it and returns its output. `at` is called at every moment. */
export async function crashRoutine(folder: string, at: () => void): Promise<unknown> {
  const routine = routineOf(folder, at);
  // No other process could own the run, and checks for it would add moments.
  const runner = sqliteRunner({ file: runnerFiles(folder).runs, routine, onWrite: at, lookMs: 600_000 });
  await runner.start(null, { runId: 'one', key: 'k' });
  setTimeout(() => runner.signal('one', 'go', 'signalled').catch(() => {}), 40);
  const output = await runner.result('one');
  await runner.close();
  return output;
}
