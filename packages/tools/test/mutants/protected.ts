import type { Mutant } from './mutant.ts';

const by = 'test/protected-paths.test.ts';

/** Planted bugs in the protection of keys and of files that other programs execute. */
export const protectedMutants: readonly Mutant[] = [
  {
    file: 'src/workspace/walk.ts',
    find: ' && !workspace.isSealed(path)',
    replace: '',
    why: 'a search shows keys',
    breaks: ['P21'],
    by,
  },
  {
    file: 'src/edit-file.ts',
    find: 'mustAsk: ({ path }) => workspace.mustAsk(path, agentFiles),',
    replace: '',
    why: 'an edit of a git hook needs no approval',
    breaks: ['P21'],
    by,
  },
  {
    file: 'src/workspace-tools.ts',
    find: 'new Workspace(given.root, { env, allowGuarded })',
    replace: 'new Workspace(given.root, { allowGuarded })',
    why: 'COBBLER_HOME of the given environment is not sealed',
    breaks: ['P21'],
    by,
  },
];
