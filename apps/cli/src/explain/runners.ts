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
      what: 'The caller stopped waiting for the run. The run itself continues.',
      todo: 'Request its result later, by its id.',
      see: 'docs/runners.md',
    },
    {
      code: 'run_over',
      kinds: ['invalid'],
      what: 'A step started after its run had ended, so its result would be lost.',
      todo: 'Wait for each step before the workflow returns. Usually an `await` is missing.',
      see: 'docs/runners.md',
    },
    {
      code: 'routine_version',
      kinds: ['invalid'],
      what: 'Another version of the workflow started the run, so this version cannot continue it.',
      todo: 'Keep the older version running until its runs have ended, or start the run again under another id.',
      see: 'docs/runners.md',
    },
    {
      code: 'replay',
      kinds: ['invalid'],
      what: 'The workflow ran again from its start after a crash, and executed steps that differ from the recorded ones.',
      todo: 'Put time, randomness and external input into steps. Give a changed workflow a new version.',
      see: 'docs/runners.md',
    },
    {
      code: 'step_name',
      kinds: ['invalid'],
      what: 'The name of a step is invalid or used twice in the run.',
      todo: 'Derive the name from the position of the step, such as `turn-3/model`.',
      see: 'docs/runners.md',
    },
    {
      code: 'step',
      kinds: ['timeout'],
      what: 'A step exceeded its time limit.',
      todo: 'Raise its time limit, or split the step. A step with `retry` is tried again automatically.',
      see: 'docs/runners.md',
    },
    {
      code: 'duration',
      kinds: ['invalid'],
      what: 'The duration of a sleep or wait is negative, or not a finite number.',
      todo: 'Pass milliseconds.',
    },
    {
      code: 'attempt',
      kinds: ['aborted'],
      what: 'This attempt at a run has ended, and another attempt continues the run.',
      todo: 'Do nothing: the recorded steps are kept, and a step that must not be repeated never runs twice.',
      see: 'docs/runners.md',
    },
    {
      code: 'no_ending',
      kinds: ['agent'],
      what: 'The runner reports the run as ended, but the log of the session does not contain its end.',
      todo: 'Resume the session: the log is authoritative, and the run continues from there.',
      see: 'docs/runners.md',
    },
    {
      code: 'engine',
      kinds: ['agent', 'network'],
      what: 'The engine of the runner failed: Restate or Cloudflare Workflows is unreachable, rejected a call, or abandoned a run.',
      todo: 'Check that the engine is running and that this program is registered with it; the message contains its error.',
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
