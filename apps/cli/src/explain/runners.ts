import type { Area } from './explanation.ts';

/** Errors of durable work: workflows, steps, and the engines that run them. */
export const runners: Area = {
  title: 'Runners',
  entries: [
    {
      code: 'run_id',
      kinds: ['invalid'],
      what: 'The run id is invalid.',
      todo: 'Use 1 to 128 letters, digits and . _ : -',
      see: 'docs/runners.md',
    },
    {
      code: 'no_run',
      kinds: ['invalid'],
      what: 'The runner does not have this run: it was never started, or it ended and its retention period has expired.',
      todo: 'Check the id, or keep ended runs longer.',
      see: 'docs/runners.md',
    },
    {
      code: 'not_awaited',
      kinds: ['aborted'],
      what: 'The caller stopped waiting for the run, which continues.',
      todo: 'Request its result later, by its id.',
      see: 'docs/runners.md',
    },
    {
      code: 'run_over',
      kinds: ['invalid'],
      what: 'A step started after the end of its run or of the current workflow call. Its result would be lost.',
      todo: 'Await each step before the workflow returns. Usually, an `await` is missing.',
      see: 'docs/runners.md',
    },
    {
      code: 'run_waiting',
      kinds: ['aborted'],
      what: 'The workflow waits for a signal. The runner calls it again when the wait is over.',
      todo: 'Do not catch the error, or throw it again. Otherwise, the workflow does not wait.',
      see: 'docs/runners.md',
    },
    {
      code: 'step',
      kinds: ['timeout'],
      what: 'A step exceeded its time limit.',
      todo: 'Raise its time limit, or split the step. Steps with `retry` are retried automatically.',
      see: 'docs/runners.md',
    },
    {
      code: 'until',
      kinds: ['invalid'],
      what: 'The end of a wait is not a valid time.',
      todo: 'Pass `until` in milliseconds since 1970.',
    },
    {
      code: 'too_many_runs',
      kinds: ['invalid'],
      what: 'The memory runner has reached its maximum number of unfinished runs.',
      todo: 'Wait for some runs to end, raise `maxOpen` of `memoryRunner`, or use a runner that stores its runs on disk, such as `sqliteRunner`.',
      see: 'docs/runners.md',
    },
    {
      code: 'due_at',
      kinds: ['invalid'],
      what: 'The due time of a run is not a valid time.',
      todo: 'Pass `dueAt` in milliseconds since 1970.',
    },
    {
      code: 'attempt',
      kinds: ['aborted'],
      what: 'This attempt at a run has ended, and another attempt continues the run.',
      todo: 'Do nothing. The other attempt continues after the last action in the log. It does not repeat tools that have the effect `once`.',
      see: 'docs/runners.md',
    },
    {
      code: 'no_ending',
      kinds: ['agent'],
      what: 'The runner reports the run as ended, but the log of the session does not contain its end.',
      todo: 'Resume the session. The run continues from the end of the log, which is authoritative.',
      see: 'docs/runners.md',
    },
    {
      code: 'engine',
      kinds: ['agent', 'network'],
      what: 'The engine of the runner failed: Restate or Cloudflare Workflows is unreachable, rejected a call, or abandoned a run.',
      todo: 'Check that the engine runs and that this program is registered with it. The message contains the error.',
      see: 'docs/runners.md',
    },
    {
      code: 'listen',
      kinds: ['invalid'],
      what: 'The program cannot listen on a port.',
      todo: 'Choose another port or host, or stop the process using it. Ports below 1024 need privileges.',
    },
  ],
};
