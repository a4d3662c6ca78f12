import type { CommandRow } from './command-row.ts';

/** The command that shows budgets. */
export const budgetsRow: CommandRow = {
  name: 'budgets',
  operands: '',
  text: 'show what is spent and left of each budget',
  about: [
    'A budget limits what all commands and runs that use it spend together, in each hour, day or month:',
    "  cobbler config set budgets.me '{ per: day, limits: { usd: 5 } }'   add or change a budget",
    '  cobbler "fix the failing test" --budget me                         count one run in it',
    '  cobbler config set budget me                                       count all runs in it',
    'See docs/budgets.md.',
  ],
  groups: [
    {
      title: 'Options',
      options: [
        { flags: '--store <url>', text: 'the budgets of a server that uses this database' },
        { flags: '--json', text: 'print the budgets as JSON' },
      ],
    },
  ],
};
