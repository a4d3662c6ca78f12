import { describe, expect, test } from 'vitest';
import { dialogOf, request, testDialogs, testEditors } from './whole-calls.ts';

/** approval-whole.slow.test.ts tests contents of a megabyte. */
const sizes = () => [100, 1_500, 20_000];

describe('an approval in a terminal [P21]', () => {
  testDialogs(sizes);

  test('shows each call of a batch completely', () => {
    const { dialog, answers, press } = dialogOf();
    dialog.ask(request('short'));
    dialog.ask(request('a\n'.repeat(500), { approvalId: '2', subject: 'b.txt' }));
    press('y');
    press('y');
    press('a');
    expect(answers).toEqual(['allow']);
    press('d');
    press('y');
    expect(answers).toEqual(['allow', 'allow']);
  });
});

describe('an approval in an editor [P21]', () => testEditors(sizes));
