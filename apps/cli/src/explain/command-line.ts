import type { Area } from './explanation.ts';

/** Errors in arguments, options or configuration files. */
export const commandLine: Area = {
  title: 'The command line and the configuration',
  entries: [
    {
      code: 'usage',
      what: 'An option, command or file on the command line is invalid. The exit code is 2, and nothing was started.',
      todo: 'The message says what is wrong, and the lines below the message say how to fix it. `cobbler help COMMAND` lists every option.',
    },
    {
      code: 'config',
      kinds: ['invalid'],
      what: 'The configuration cannot be read, or one of its lines is invalid. The message contains the file, the line and the setting.',
      todo: 'Correct that line, or move the file elsewhere to continue without it. `cobbler config` shows each setting and its source.',
    },
  ],
};
