import { describe } from 'vitest';
import { channels, testQuestions } from './questions.ts';

describe.each(channels)('an approval question about long contents on %s [P21]', (_name, channel) =>
  testQuestions(channel, [100_000, 1_000_000]),
);
