import { describe, expect, test } from 'vitest';
import { proposalOf } from '../src/app/transcript/proposal.ts';
import { request, testProposals } from './support/proposals.ts';

/** proposal.slow.test.ts tests longer contents. */
describe('the approval question on the page [P21]', () => {
  testProposals([100, 1_500, 20_100]);

  test('offers no Allow for a call that is too long', () => {
    expect(proposalOf(request({ content: 'x'.repeat(1_000_000) }, {})).isWhole).toBe(false);
  });
});
