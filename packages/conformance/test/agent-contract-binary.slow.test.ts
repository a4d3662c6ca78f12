import { afterAll, describe, it } from 'vitest';
import { describeWays } from '../src/msw/index.ts';
import { helio, lanternWithPasses } from './subjects.ts';

for (const subject of [helio, lanternWithPasses])
  describeWays(subject, { describe, it, afterAll }, { seeds: { count: 5 }, print: console.log });
