import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { expect, test } from 'vitest';
import { approvalContent, choiceOf, permissionOptions } from '../../src/acp/approval.ts';

test('ACP: the question about a limit has its text and its two answers', () => {
  const limit = { amount: 'usd', max: 0.5, spent: 0.49, more: 0.5 } as const;
  const head = { type: 'approval_requested', approvalId: 'q', callId: 'q', turn: 1, index: 1000 } as const;
  const request: ApprovalRequestedEvent = {
    ...head,
    toolName: 'continue',
    arguments: limit,
    hash: 'h',
    limit,
  };
  const { content, isWhole } = approvalContent(request, '/work', 'session');
  const options = permissionOptions([], isWhole, limit);
  expect(options.map(({ name, kind }) => [name, kind])).toEqual([
    ['Continue with $0.50 more', 'allow_once'],
    ['Stop', 'reject_once'],
  ]);
  expect(JSON.stringify(content)).toContain('$0.49 of $0.50 spent. Continue with $0.50 more, or stop?');
  expect(choiceOf({ outcome: 'selected', optionId: 'allow' }, options)).toEqual({ type: 'allow' });
});
