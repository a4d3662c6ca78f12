import type { Area } from './explanation.ts';

/** Errors of recording and replay. */
export const cassettes: Area = {
  title: 'Record and replay',
  entries: [
    {
      code: 'cassette',
      kinds: ['invalid'],
      what: 'The file is not a cassette, is damaged, or was written by an incompatible version.',
      todo: 'Record it again with `cobbler --record FILE "…"`.',
      see: 'docs/record-and-replay.md',
    },
    {
      code: 'replay_miss',
      kinds: ['agent'],
      what: 'The replay differs from the recording: the program, the prompt or a tool has changed. The message shows the difference.',
      todo: 'If the change is intended, record again with `cobbler --replay FILE --refresh`. Otherwise, undo the change.',
      see: 'docs/record-and-replay.md',
    },
    {
      code: 'not_on_replay',
      kinds: ['tool'],
      what: 'A replay called an MCP tool that the cassette does not contain. A replay starts no MCP server.',
      todo: 'Record the run again, so that the cassette contains this call.',
      see: 'docs/record-and-replay.md',
    },
  ],
};
