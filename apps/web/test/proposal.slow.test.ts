import { describe } from 'vitest';
import { testProposals } from './support/proposals.ts';

describe('the approval question on the page, for long contents [P21]', () =>
  testProposals([100_000, 1_000_000]));
