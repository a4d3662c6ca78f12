import type { Mutant } from './mutant.ts';

const hooks = 'src/loop/hooks.ts';
const by = 'executor: hooks';

/** Mistakes in the hooks of an executor. */
export const hookMutants: readonly Mutant[] = [
  {
    file: hooks,
    find: 'throw hookFailed(hook, place, thrown);',
    replace: 'continue;',
    why: 'a hook that throws is skipped',
    breaks: ['P31'],
    by,
  },
  {
    file: hooks,
    find: "return { type: 'deny', message: hookFailed(hook, 'beforeTool', thrown).message };",
    replace: "return 'allow';",
    why: 'a call runs although a hook failed to decide about it',
    breaks: ['P31'],
    by,
  },
  {
    file: 'src/loop/call-tools.ts',
    find: 'await changedOutput(run, { call: done, ...ran }, maxBytes);',
    replace: 'ran;',
    why: 'output that a hook replaced is stored and sent as it was',
    breaks: ['P31'],
    by,
  },
  {
    file: 'src/loop/call-tools.ts',
    find: 'return await gated(job, [...hooks, gate], run);',
    replace: 'return await gated(job, [gate, ...hooks], run);',
    why: 'the gate decides about other arguments than those that run',
    breaks: ['P21'],
    by,
  },
  {
    file: 'src/loop/call-tools.ts',
    find: 'const plan = await gated(job, hooks, run);',
    replace: 'const plan = await gated(job, [], run);',
    why: 'a call that a user approved is rejected, because its arguments are those of the model again',
    breaks: ['P9', 'P31'],
    by,
  },
];
