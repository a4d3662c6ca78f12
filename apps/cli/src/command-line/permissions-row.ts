import type { CommandRow } from './command-row.ts';
import { runGroups } from './run-options.ts';

/** The command that shows, removes and tests permission rules. */
export const permissionsRow: CommandRow = {
  name: 'permissions',
  operands: '[action] [rule]',
  text: 'list, remove or test the permission rules of a directory',
  about: [
    "cobbler permissions                  list the rules of this directory's .cobbler/config.yaml",
    'cobbler permissions remove RULE      remove an allow rule and forget that you accepted it',
    'cobbler permissions test COMMAND     show what would happen with a command, and which rule decides',
    "cobbler permissions test 'TOOL(…)'   the same for a call of another tool, such as edit_file(src/a.ts)",
  ],
  groups: [
    {
      title: 'Options',
      options: [
        {
          flags: '-C, --dir <dir>',
          text: 'rules of this directory (default: the current one)',
          completes: 'folder',
        },
        { flags: '--in <dir>', text: 'with test: run the command in this subdirectory', completes: 'folder' },
      ],
    },
    ...runGroups.filter(({ title }) => title === 'Permissions'),
  ],
  words: ['remove', 'test'],
};
