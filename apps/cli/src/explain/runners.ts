import type { Area } from './explanation.ts';

/** Durable work: routines, steps, and the engines below. */
export const runners: Area = {
  title: 'Runners',
  entries: [
    {
      code: 'run_id',
      kinds: ['invalid'],
      what: 'The text cannot be the id of a run.',
      todo: 'Use 1 to 128 letters, digits and . _ : -',
      see: 'docs/runners.md',
    },
    {
      code: 'no_run',
      kinds: ['invalid'],
      what: 'The runner knows no such run: it was never started, or ended so long ago that it is no longer kept.',
      todo: 'Check the id, or keep ended runs for longer.',
      see: 'docs/runners.md',
    },
    {
      code: 'not_awaited',
      kinds: ['aborted'],
      what: 'Whoever waited for the run gave up waiting. The run itself goes on.',
      todo: 'Ask for its result again later, by its id.',
      see: 'docs/runners.md',
    },
    {
      code: 'run_over',
      kinds: ['invalid'],
      what: 'A step began when its run was over, so it would be lost.',
      todo: 'Wait for each step before the routine returns: mostly an `await` is missing.',
      see: 'docs/runners.md',
    },
    {
      code: 'routine_version',
      kinds: ['invalid'],
      what: 'The run was begun by another version of its routine, which this one cannot take up.',
      todo: 'Keep the older version running until its runs are over, or start the run again under another id.',
      see: 'docs/runners.md',
    },
    {
      code: 'replay',
      kinds: ['invalid'],
      what: 'After a crash a routine runs again from its beginning, and it took another way than before: what was recorded does not fit.',
      todo: 'Put time, chance and everything from outside into steps. Give a changed routine a new version.',
      see: 'docs/runners.md',
    },
    {
      code: 'step_name',
      kinds: ['invalid'],
      what: 'A step has no usable name, or one that another step of the run has.',
      todo: 'Make the name from the position of the step, such as `turn-3/model`.',
      see: 'docs/runners.md',
    },
    {
      code: 'step',
      kinds: ['timeout'],
      what: 'A step took longer than it may.',
      todo: 'Give it more time, or make it smaller. It may be tried again by itself.',
      see: 'docs/runners.md',
    },
    {
      code: 'duration',
      kinds: ['invalid'],
      what: 'A sleep or a wait has a length that is no number from 0 up.',
      todo: 'Give milliseconds.',
    },
    {
      code: 'attempt',
      kinds: ['aborted'],
      what: 'This attempt at a run is over, and another one goes on with it.',
      todo: 'Nothing: what was recorded is kept, and nothing runs twice that should not.',
      see: 'docs/runners.md',
    },
    {
      code: 'no_ending',
      kinds: ['agent'],
      what: 'The runner says that a run is over, and the log of the session has no end of it.',
      todo: 'Resume the session: the log counts, and the run goes on from there.',
      see: 'docs/runners.md',
    },
    {
      code: 'engine',
      kinds: ['agent', 'network'],
      what: 'The engine below the runner failed: Restate or Cloudflare Workflows cannot be reached, refused a call, or gave a run up.',
      todo: 'Check that it runs and that this program is registered with it; the message has its words.',
      see: 'docs/runners.md',
    },
    {
      code: 'listen',
      kinds: ['invalid'],
      what: 'A port cannot be listened on.',
      todo: 'Choose another port or host, or end the program that has it. Ports below 1024 need rights.',
    },
  ],
};
