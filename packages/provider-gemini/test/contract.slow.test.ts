import { describeWays } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects) describeWays(subject, { describe, it, afterAll }, { print: console.log });
