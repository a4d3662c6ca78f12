import type { OptionGroup } from './option-row.ts';
import { taskGroups } from './run-options.ts';

/** The default port of a server. */
export const defaultPort = 4370;

/** The options that a server applies to all sessions: those of `run`, except for prompt and output. */
export const serveGroups: readonly OptionGroup[] = [
  {
    title: 'Server',
    options: [
      { flags: '--port <n>', text: `listen on this port (default ${defaultPort}; 0: any free port)` },
      { flags: '--host <address>', text: 'listen on this address (default 127.0.0.1)' },
      {
        flags: '--allowed-host <name>',
        text: 'also serve requests for this host name, such as that of a proxy; repeatable',
        repeats: true,
      },
      { flags: '--demo', text: 'use a scripted model, without a key; nothing is saved' },
      { flags: '--rotate-token', text: 'replace the owner token' },
      {
        flags: '--store <place>',
        text: 'keep sessions in this file, or in a database: postgres://user@host/name',
        completes: 'file',
      },
      {
        flags: '--runner <name>',
        text: 'restate: runs survive a crash, and any process can continue them',
        completes: ['restate'],
      },
      { flags: '--restate <urls>', text: 'Restate ingress (default http://127.0.0.1:8080)' },
      { flags: '--restate-admin <urls>', text: 'Restate admin API (default http://127.0.0.1:9070)' },
      { flags: '--restate-host <address>', text: 'address to listen on for Restate (default 127.0.0.1)' },
      { flags: '--restate-port <n>', text: 'port to listen on for Restate (default 9080)' },
      {
        flags: '--restate-address <url>',
        text: 'address at which Restate reaches this process, for example through a proxy',
      },
      {
        flags: '--log-level <level>',
        text: 'minimum level to log on standard error: debug, info, warn or error',
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
