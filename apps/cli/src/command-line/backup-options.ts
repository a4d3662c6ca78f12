/** Commands that back up and restore all data. */
export const backupRows = [
  {
    name: 'backup',
    operands: '<folder>',
    text: 'back up all data to a new directory, even while a server is running',
    about: [
      'Copies the sessions, tokens, keys, memory and chats of COBBLER_HOME and writes a manifest. A server or bot can',
      'keep running. The copy contains secrets, and only you can read it. See docs/operations.md.',
    ],
    groups: [],
  },
  {
    name: 'restore',
    operands: '<folder>',
    text: 'restore a backup into COBBLER_HOME, which must be empty',
    about: [
      'Checks every file against the manifest first and never overwrites anything. Stop the original server and bot',
      'before you start them on the restored copy; otherwise, the original and the copy would do the same work.',
    ],
    groups: [],
  },
  {
    name: 'store',
    operands: '<action> [file]',
    text: 'check session files for damage, and copy intact data',
    about: [
      'cobbler store verify [FILE]    verify checksums; without FILE: all files of COBBLER_HOME',
      'cobbler store salvage [FILE]   copy intact data to FILE.salvaged and list what each session lost',
      'The exit code is 1 if data is damaged. salvage does not change FILE; --replace renames it. First stop',
      'every program that uses FILE. See docs/operations.md.',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--json', text: 'with verify: print the report as JSON, one file per line' },
          { flags: '--to <file>', text: 'with salvage: write to this file', completes: 'file' },
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
