/** What the command line says of keeping copies of everything, and of getting it back. */
export const backupRows = [
  {
    name: 'backup',
    operands: '<folder>',
    text: 'copy all that is kept into a new folder, while in use',
    about: [
      'Sessions, tokens, keys, memory and chats of COBBLER_HOME, as of now, and a manifest. A server or a bot may go on',
      'meanwhile. The copy is for you alone, and as secret as what it is of. See docs/operations.md.',
    ],
    groups: [],
  },
  {
    name: 'restore',
    operands: '<folder>',
    text: 'put a backup into COBBLER_HOME, which has to be empty',
    about: [
      'Every file is checked against the manifest first. Nothing is ever overwritten. End the server and the bot that',
      'the backup is of before you start those that go on with it: both would do the same work.',
    ],
    groups: [],
  },
  {
    name: 'store',
    operands: '<action> [file]',
    text: 'check the file of sessions for damage; copy what is intact',
    about: [
      'cobbler store verify [FILE]    compare everything with its checksums; without FILE: all files of COBBLER_HOME',
      'cobbler store salvage [FILE]   copy what is intact into FILE.salvaged, and say per session what is lost',
      'The exit code is 1 when something is damaged. salvage never changes FILE, unless --replace moves it. End every',
      'program that uses FILE first. See docs/operations.md.',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--json', text: 'with verify: the report as JSON, one file per line' },
          { flags: '--to <file>', text: 'with salvage: the new file', completes: 'file' },
          {
            flags: '--replace',
            text: 'with salvage: put the new file in place, keep the old one as FILE.damaged',
          },
        ],
      },
    ],
    words: ['verify', 'salvage'],
  },
] as const;
