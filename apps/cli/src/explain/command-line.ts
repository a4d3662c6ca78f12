import type { Area } from './explanation.ts';

/** What a person typed, or wrote into a file of Cobbler. */
export const commandLine: Area = {
  title: 'The command line and the configuration',
  entries: [
    {
      code: 'usage',
      what: 'An option, a command or a file on the command line cannot be used. The exit code is 2, and nothing was begun.',
      todo: 'The message says what is wrong, and the lines below it what to do. `cobbler help COMMAND` has every option.',
    },
    {
      code: 'config',
      kinds: ['invalid'],
      what: 'The configuration cannot be read, or a line in it is wrong. The message has the file, the line and the setting.',
      todo: 'Correct that line, or move the file away. `cobbler config` shows each setting and where it comes from.',
    },
  ],
};
