import type { OptionGroup } from './option-row.ts';
import { taskGroups } from './run-options.ts';

/** What a server decides for all its sessions: what `run` decides for one, but for its prompt and output. */
export const serveGroups: readonly OptionGroup[] = [
  {
    title: 'Server',
    options: [
      { flags: '--port <n>', text: 'listen on this port (default 4370; 0 for any free one)' },
      { flags: '--host <address>', text: 'listen on this address (default 127.0.0.1)' },
      {
        flags: '--allowed-host <name>',
        text: 'serve requests for this name too, such as that of a proxy; repeatable',
        repeats: true,
      },
      { flags: '--demo', text: 'try it with a scripted model, without a key; nothing is kept' },
      { flags: '--rotate-token', text: "replace the owner's token" },
      {
        flags: '--store <place>',
        text: 'keep sessions in this file, or in a database: postgres://user@host/name',
        completes: 'file',
      },
      {
        flags: '--runner <name>',
        text: 'restate: runs outlive the process, and any process goes on with them',
        completes: ['restate'],
      },
      { flags: '--restate <urls>', text: 'where it takes calls (default http://127.0.0.1:8080)' },
      { flags: '--restate-admin <urls>', text: 'where it is administered (default http://127.0.0.1:9070)' },
      { flags: '--restate-host <address>', text: 'listen for it here (default 127.0.0.1)' },
      { flags: '--restate-port <n>', text: 'and on this port (default 9080)' },
      {
        flags: '--restate-address <url>',
        text: 'where it finds this process, when something is in front of it',
      },
      {
        flags: '--log-level <level>',
        text: 'log from debug, info, warn or error up, on standard error',
        completes: ['debug', 'info', 'warn', 'error'],
      },
    ],
  },
  ...taskGroups
    .filter(({ title }) => title !== 'Output')
    .map(({ title, options }) => ({
      title,
      options: options.filter(({ flags }) => !flags.includes('--attach')),
    })),
];
