import type { Mutant } from './mutant.ts';

const by = 'test/protected-paths.test.ts';

/** Mistakes in keeping the tools from keys and from files that other programs run. */
export const protectedMutants: readonly Mutant[] = [
  {
    file: 'src/workspace/walk.ts',
    find: ' && !workspace.isSealed(path)',
    replace: '',
    why: 'searching shows keys',
    breaks: ['P21'],
    by,
  },
  {
    file: 'src/edit-file.ts',
    find: 'mustAsk: ({ path }) => workspace.mustAsk(path, agentFiles),',
    replace: '',
    why: 'an edit of a hook of git runs unasked',
    breaks: ['P21'],
    by,
  },
  {
    file: 'src/workspace-tools.ts',
    find: 'new Workspace(options.root, { env })',
    replace: 'new Workspace(options.root)',
    why: 'COBBLER_HOME of the command is not the one that is sealed',
    breaks: ['P21'],
    by,
  },
];
