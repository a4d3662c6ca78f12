import type { CommandRow } from './command-row.ts';

/** The command that shows what sessions have cost. */
export const costsRow: CommandRow = {
  name: 'costs',
  operands: '',
  text: 'show what all sessions have cost, and a forecast for the month',
  about: [
    'Includes summaries, failed attempts and deleted sessions. Requests without a known price are counted, not added.',
    'The forecast continues the pace of the period to the end of the month. See docs/costs.md.',
  ],
  groups: [
    {
      title: 'Options',
      options: [
        {
          flags: '--by <group>',
          text: 'group by day (default), model, session or kind of request',
          completes: ['day', 'model', 'session', 'kind'],
        },
        { flags: '--since <time>', text: 'only this recent, such as 7d, 12h or 4w, or all (default 30d)' },
        { flags: '-n, --limit <n>', text: 'maximum number of groups in the table (default 31)' },
        { flags: '--server', text: 'the sessions of cobbler serve instead of your own' },
        { flags: '--delete-before <day>', text: 'delete the costs before a day, such as 2026-01-01' },
        { flags: '--json', text: 'print the costs as JSON' },
        { flags: '--csv', text: 'print the costs as comma-separated values' },
      ],
    },
  ],
};
