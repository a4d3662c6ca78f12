import { expect, test } from 'vitest';
import { withProgramName } from '../../src/terminal/program-name.ts';

const words = 'List the sessions: cobbler sessions. Or cobbler "fix it" with ~/.cobbler and a cobbler.';

test('withProgramName replaces the command name in commands only', () => {
  expect(withProgramName(words, { COBBLER_COMMAND: 'npm start --' })).toBe(
    'List the sessions: npm start -- sessions. Or npm start -- "fix it" with ~/.cobbler and a cobbler.',
  );
  expect(withProgramName(words, {})).toBe(words);
});
