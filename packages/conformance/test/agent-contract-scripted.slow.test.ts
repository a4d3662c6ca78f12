import { afterAll, describe, it } from 'vitest';
import { describeWays } from '../src/msw/index.ts';
import { scripted } from './subjects.ts';

describeWays(scripted, { describe, it, afterAll }, { print: console.log });
