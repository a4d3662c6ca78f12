import { describe, expect, test } from 'vitest';
import { proposalOf } from '../src/app/transcript/proposal.ts';
import { request, testProposals } from './support/proposals.ts';

/** proposal.slow.test.ts tests longer contents. */
describe('the approval question on the page [P21]', () => {
  testProposals([100, 1_500, 20_100]);

  test('shows the whole question about a limit', () => {
    const limit = { amount: 'tokens', max: 9000, spent: 8000, more: 9000 } as const;
    expect(proposalOf({ ...request({ command: 'ls' }, {}), limit })).toEqual({
      text: "This run's limit leaves too little for the next request: 8,000 of 9,000 tokens spent. Continue with 9,000 tokens more, or stop?",
      isWhole: true,
    });
  });

  test('offers no Allow for a call that is too long', () => {
    expect(proposalOf(request({ content: 'x'.repeat(1_000_000) }, {})).isWhole).toBe(false);
  });
});
