import type { Mutant } from './mutant.ts';

const runTable = 'src/node/sqlite-runner/run-table.ts';
const inbox = 'src/node/sqlite-runner/sqlite-inbox.ts';
const liveRun = 'src/runner/live-run.ts';
const runner = 'src/runner/inbox-runner.ts';
const attempts = 'src/runner/attempts.ts';
const call = 'src/runner/routine-call.ts';
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
    find: 'other.number < r.number',
    replace: 'other.number > r.number',
    why: 'what was started last is worked off first',
    breaks: [],
    by: 'runner: key',
  },
  {
    file: runTable,
    find: "'INSERT OR IGNORE INTO signals VALUES (?, ?, ?)'",
    replace: "'INSERT OR REPLACE INTO signals VALUES (?, ?, ?)'",
    why: 'the last signal counts, so that a decision may come out otherwise when a call is repeated',
    breaks: [],
    by: 'runner: signal',
  },
  {
    file: inbox,
    find: 'run: () => Value, isDurable = true)',
    replace: 'run: () => Value, isDurable = false)',
    why: 'a power cut can take a start or a signal',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runTable,
    find: 'r.due <= ?1 AND NOT EXISTS',
    replace: 'NOT EXISTS',
    why: 'a run begins before it is due',
    breaks: [],
    by: 'runner: due',
  },
  {
    file: runTable,
    find: 'AND other.due <= ?1)',
    replace: ')',
    why: 'a run that is not due holds up the others of its key',
    breaks: [],
    by: 'runner: due',
  },
  {
    file: liveRun,
    find: '|| standing.epoch !== claimed.epoch)',
    replace: ')',
    why: 'who has lost a run to another process goes on with its steps',
    breaks: ['P13'],
    by: units,
  },
  {
    file: call,
    find: 'AbortSignal.any([this.#ended.signal, options.signal])',
    replace: 'options.signal',
    why: 'a step begins after its call has ended, beside the next call',
    breaks: [],
    by: 'runner: step',
  },
  {
    file: call,
    find: 'this.waits.push({ name, ...defined({ until }) });',
    replace: 'this.waits.push({ name });',
    why: 'a wait with an end never ends without its signal',
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
    why: 'a run whose inbox failed for a moment is never gone on with',
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
    why: 'an input of exactly the most bytes is refused',
    breaks: [],
    by: 'runner: start',
  },
  {
    file: 'src/loop/opening.ts',
    find: '|| open.has(event.approvalId));',
    replace: '|| true);',
    why: 'an action that is performed again decides again what is decided',
    breaks: ['P13'],
    by: 'test/loop/advance.test.ts',
  },
];
