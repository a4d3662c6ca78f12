import { describe } from 'vitest';
import { testDialogs, testEditors } from './whole-calls.ts';

const sizes = (which: string) => (which === 'no diff' ? [1_000_000] : []);

describe('an approval of a megabyte in a terminal [P21]', () => testDialogs(sizes));

describe('an approval of a megabyte in an editor [P21]', () => testEditors(sizes));
