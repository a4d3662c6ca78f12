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
] as const;
