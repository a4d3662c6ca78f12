import type { Mutant } from './mutant.ts';

const hooks = 'src/loop/hooks.ts';
const by = 'executor: hooks';

/** Bugs in the hooks of an executor. */
export const hookMutants: readonly Mutant[] = [
  {
    file: hooks,
    find: 'throw hookFailed(hook, place, thrown);',
    replace: 'continue;',
    why: 'an error that a hook throws is ignored',
    breaks: ['P31'],
    by,
  },
  {
    file: hooks,
    find: "return { type: 'deny', message: hookFailed(hook, 'beforeTool', thrown).message };",
    replace: "return 'allow';",
    why: 'a call runs although its hook failed',
    breaks: ['P31'],
    by,
  },
  {
    file: 'src/loop/call-tools.ts',
    find: 'await changedOutput(run, { call: done, ...ran }, usefulBytes(run, tool));',
    replace: 'ran;',
    why: 'output that a hook replaced is stored and sent unchanged',
    breaks: ['P31'],
    by,
  },
  {
    file: 'src/loop/plan-call.ts',
    find: '[...hooksAsGates(run), gate]',
    replace: '[gate, ...hooksAsGates(run)]',
    why: 'the gate decides about different arguments than those that run',
    breaks: ['P21'],
    by,
  },
  {
    file: 'src/loop/plan-call.ts',
    find: 'const plan = await planWithGates(run, job, hooksAsGates(run));',
    replace: 'const plan = await planWithGates(run, job, []);',
    why: 'an approved call is rejected, because hooks do not change its arguments again',
    breaks: ['P9', 'P31'],
    by,
  },
];
