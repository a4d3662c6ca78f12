import type { Mutant } from './mutant.ts';

const runTable = 'src/node/sqlite-runner/run-table.ts';
const journal = 'src/node/sqlite-runner/sqlite-journal.ts';
const liveRun = 'src/runner/run-execution.ts';
const runner = 'src/runner/local-runner.ts';
const attempts = 'src/runner/step.ts';
const units = 'test/node/sqlite/runner.test.ts';

/** Mistakes in working off runs. */
export const runnerMutants: readonly Mutant[] = [
  {
    file: runTable,
    find: 'SELECT number FROM runs WHERE id = ? AND epoch = ?',
    replace: 'SELECT number FROM runs WHERE id = ? AND epoch >= ?',
    why: 'who has lost a run to another process still writes into it',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runTable,
    find: 'if (buried(this.#file, owner)) this.releaseAll(owner);',
    replace: 'this.releaseAll(owner);',
    why: 'runs are taken from processes that live',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runTable,
    find: 'if (buried(this.#file, owner)) this.releaseAll(owner);',
    replace: 'buried(this.#file, owner);',
    why: 'nobody takes up the runs of a process that died',
    breaks: [],
    by: 'runner: crash',
  },
  {
    file: runTable,
    find: 'before.number < r.number',
    replace: 'before.number > r.number',
    why: 'what was started last is worked off first',
    breaks: [],
    by: 'runner: key',
  },
  {
    file: runTable,
    find: "'INSERT OR IGNORE INTO signals VALUES (?, ?, ?)'",
    replace: "'INSERT OR REPLACE INTO signals VALUES (?, ?, ?)'",
    why: 'the last signal counts, so that a wait may come out otherwise when it is replayed',
    breaks: [],
    by: 'runner: signal',
  },
  {
    file: journal,
    find: 'run: () => Value, isDurable = true)',
    replace: 'run: () => Value, isDurable = false)',
    why: 'a power cut can take a start or a recorded step',
    breaks: ['P13'],
    by: units,
  },
  {
    file: liveRun,
    find: 'if (kept !== undefined) return { value: stepValue<Value>(kept, name), replayed: true };',
    replace: '',
    why: 'a step that is recorded runs again after a restart',
    breaks: [],
    by: 'runner: step',
  },
  {
    file: liveRun,
    find: 'return kept.at;',
    replace: 'return this.#options.runtime.now() + ms;',
    why: 'a sleep begins anew with each restart',
    breaks: [],
    by: 'runner: sleep',
  },
  {
    file: runner,
    find: 'if (freed.isOver) this.#drop(runId, runCancelled(runId));',
    replace: '',
    why: 'the step of a cancelled run is not told to stop',
    breaks: [],
    by: 'runner: cancel',
  },
  {
    file: runner,
    find: "if (error.code !== 'fenced') this.#strays.add(claimed);",
    replace: '',
    why: 'a run whose journal failed for a moment is never gone on with',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runner,
    find: 'if (claimed.version !== version && !replays.includes(claimed.version))',
    replace: 'if (claimed.version === undefined)',
    why: 'a run is replayed by a routine that does something else',
    breaks: ['P13'],
    by: units,
  },
  {
    file: attempts,
    find: 'attempt > retry.retries ||',
    replace: 'attempt >= retry.retries ||',
    why: 'the last attempt is left out',
    breaks: [],
    by: 'runner: attempt',
  },
  {
    file: attempts,
    find: '      reject(reason);\n      controller.abort(reason);',
    replace: '      controller.abort(reason);',
    why: 'a function that does not heed its signal holds up its run for ever',
    breaks: [],
    by: 'runner: attempt',
  },
  {
    file: 'src/values/json-text.ts',
    find: 'bytesUpTo(text, maxResultBytes) <= maxResultBytes) return text;',
    replace: 'bytesUpTo(text, maxResultBytes) < maxResultBytes) return text;',
    why: 'a result of exactly the most bytes is refused',
    breaks: [],
    by: 'runner: step',
  },
];
