import type { Mutant } from './mutant.ts';

const runTable = 'src/node/sqlite-runner/run-table.ts';
const inbox = 'src/node/sqlite-runner/sqlite-inbox.ts';
const liveRun = 'src/runner/live-run.ts';
const runner = 'src/runner/inbox-runner.ts';
const attempts = 'src/runner/attempts.ts';
const call = 'src/runner/workflow-call.ts';
const units = 'test/node/sqlite/runner.test.ts';

/** Bugs in running workflows. */
export const runnerMutants: readonly Mutant[] = [
  {
    file: runTable,
    find: 'SELECT number FROM runs WHERE id = ? AND epoch = ?',
    replace: 'SELECT number FROM runs WHERE id = ? AND epoch >= ?',
    why: 'a process that has lost a run still writes to it',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runTable,
    find: 'if (removeDeadLock(this.#file, owner)) this.releaseAll(owner);',
    replace: 'this.releaseAll(owner);',
    why: 'the runner takes runs from live processes',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runTable,
    find: 'if (removeDeadLock(this.#file, owner)) this.releaseAll(owner);',
    replace: 'removeDeadLock(this.#file, owner);',
    why: 'no process resumes the runs of a dead process',
    breaks: [],
    by: 'runner: crash',
  },
  {
    file: runTable,
    find: 'other.number < r.number',
    replace: 'other.number > r.number',
    why: 'the run started last runs first',
    breaks: [],
    by: 'runner: key',
  },
  {
    file: runTable,
    find: "'INSERT OR IGNORE INTO signals VALUES (?, ?, ?)'",
    replace: "'INSERT OR REPLACE INTO signals VALUES (?, ?, ?)'",
    why: 'the last signal wins, so a repeated call may decide differently',
    breaks: [],
    by: 'runner: signal',
  },
  {
    file: inbox,
    find: 'run: () => Value, isDurable = true)',
    replace: 'run: () => Value, isDurable = false)',
    why: 'a power failure can undo a start or a signal',
    breaks: ['P13'],
    by: units,
  },
  {
    file: runTable,
    find: 'r.due <= ?1 AND NOT EXISTS',
    replace: 'NOT EXISTS',
    why: 'a run starts before it is due',
    breaks: [],
    by: 'runner: due',
  },
  {
    file: runTable,
    find: 'AND other.due <= ?1)',
    replace: ')',
    why: 'a run that is not due blocks other runs with its key',
    breaks: [],
    by: 'runner: due',
  },
  {
    file: liveRun,
    find: '|| runRecord.epoch !== claimed.epoch)',
    replace: ')',
    why: 'a process that has lost a run continues its steps',
    breaks: ['P13'],
    by: units,
  },
  {
    file: call,
    find: 'AbortSignal.any([this.#ended.signal, options.signal])',
    replace: 'options.signal',
    why: 'a step starts after its call has ended, in parallel with the next call',
    breaks: [],
    by: 'runner: step',
  },
  {
    file: call,
    find: 'this.waits.push({ name, ...defined({ until }) });',
    replace: 'this.waits.push({ name });',
    why: 'a wait with a deadline ends only with its signal',
    breaks: [],
    by: 'runner: sleep',
  },
  {
    file: runner,
    find: 'if (freed.isOver) this.#drop(runId, runCancelled(runId));',
    replace: '',
    why: 'the step of a cancelled run gets no abort signal',
    breaks: [],
    by: 'runner: cancel',
  },
  {
    file: runner,
    find: "if (error.code !== 'fenced') this.#strays.add(claimed);",
    replace: '',
    why: 'a run never resumes after a temporary inbox failure',
    breaks: ['P13'],
    by: units,
  },
  {
    file: attempts,
    find: 'attempt > retry.retries ||',
    replace: 'attempt >= retry.retries ||',
    why: 'the last attempt is skipped',
    breaks: [],
    by: 'runner: attempt',
  },
  {
    file: attempts,
    find: '      reject(reason);\n      controller.abort(reason);',
    replace: '      controller.abort(reason);',
    why: 'a function that ignores its signal blocks its run forever',
    breaks: [],
    by: 'runner: attempt',
  },
  {
    file: 'src/values/json-text.ts',
    find: 'bytesUpTo(text, maxResultBytes) <= maxResultBytes) return text;',
    replace: 'bytesUpTo(text, maxResultBytes) < maxResultBytes) return text;',
    why: 'an input of exactly the maximum size is rejected',
    breaks: [],
    by: 'runner: start',
  },
  {
    file: 'src/loop/opening.ts',
    find: '|| open.has(event.approvalId),',
    replace: '|| true,',
    why: 'a repeated action records a decision again',
    breaks: ['P13'],
    by: 'test/loop/advance.test.ts',
  },
];
