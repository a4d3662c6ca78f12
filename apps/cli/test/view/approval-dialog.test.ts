import type { ApprovalDecision } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { describe, expect, test } from 'vitest';
import { rulesToOffer } from '../../src/permissions/permission-rule.ts';
import type { Key } from '../../src/terminal/io.ts';
import { keysOf } from '../../src/terminal/keyboard.ts';
import { styleFor } from '../../src/terminal/style.ts';
import { ApprovalDialog } from '../../src/view/approval-dialog.ts';

const style = styleFor({ color: false, unicode: true, tty: true });

function request(id: string, rest: Partial<ApprovalRequestedEvent> = {}): ApprovalRequestedEvent {
  return {
    type: 'approval_requested',
    approvalId: id,
    callId: id,
    turn: 1,
    index: 0,
    toolName: 'run_command',
    arguments: { command: 'npm test' },
    hash: 'h',
    subject: 'npm test',
    ...rest,
  };
}

function dialogOf(columns = 100, show?: () => void) {
  const shown: string[] = [];
  const answers: [string, ApprovalDecision][] = [];
  const rules: string[] = [];
  const dialog = new ApprovalDialog({
    style,
    columns: () => columns,
    folder: '~/demo',
    show: show ?? ((lines) => void shown.push(...lines)),
    answer: (id, answer) => void answers.push([id, answer]),
    allowAlways: (rule) => void rules.push(rule),
    offers: (call) => rulesToOffer(call, () => undefined),
    scope: ' in this run',
    onChange: () => undefined,
  });
  const press = (...keys: readonly (string | Key)[]) => {
    for (const key of keys) dialog.key(typeof key === 'string' ? { type: 'text', text: key } : key);
  };
  return { dialog, shown, answers, rules, press };
}

const limit = { amount: 'usd', max: 5, spent: 4.97, more: 5, budget: 'me' } as const;

test('the question about a limit has its text and its two answers', () => {
  const { dialog, shown, answers, rules, press } = dialogOf();
  dialog.ask(request('1', { toolName: 'continue', arguments: limit, limit }));
  expect(shown.join(' ').replace(/\s+/g, ' ')).toBe(
    ' ? Budget "me" leaves too little for the next request: $4.97 of $5.00 spent. Continue with $5.00 more, or stop?',
  );
  expect(dialog.footer()).toEqual(['    y continue with $5.00 more   n stop']);
  press('e', 'a', 'y');
  expect([answers, rules]).toEqual([[['1', { decision: 'allow' }]], []]);
});

test('a call that cannot be shown can only be denied', () => {
  const { dialog, answers, rules, press } = dialogOf(100, () => {
    throw new Error('The screen is gone.');
  });
  expect(() => dialog.ask(request('1'))).toThrow('The screen is gone.');
  expect(dialog.footer()).toEqual(['    This call could not be shown.   n deny   e deny with a reason']);
  press('y', 'a', 'd');
  expect([answers, rules]).toEqual([[], []]);
  press('n');
  expect(answers).toEqual([['1', { decision: 'deny' }]]);
});

const diff = `@@ -1,40 +1,40 @@\n${Array.from({ length: 40 }, (_, index) => `+line ${index}\n`).join('')}`;

describe('an approval', () => {
  test('shows the command with its directory, and the keys with the rule for "always"', () => {
    const { dialog, shown } = dialogOf();
    dialog.ask(request('1', { summary: 'in the workspace' }));
    expect(shown[0]).toMatch(/^ {2}\? run_command {2}npm test +in ~\/demo$/);
    expect(dialog.footer()).toEqual([
      '    y allow   a always run_command(npm test) in this run   n deny   e deny with a reason',
    ]);
    const other = dialogOf();
    other.dialog.ask(request('1', { summary: 'for general, in the workspace' }));
    expect(other.shown[0]).toMatch(/for general, in ~\/demo$/);
  });

  test('shows where a diff was shortened, and what follows', () => {
    const { dialog, shown } = dialogOf();
    const cut = '@@ -1,2 +1,2 @@\n-a\n… 9 bytes omitted …\nrest of a line\n+b\n';
    dialog.ask(request('1', { diff: cut }));
    expect(shown.join('\n')).toMatch(/9 bytes omitted[\s\S]*rest of a line/);
  });

  test('shows why a call needs approval, and offers no "always" for it [P21]', () => {
    const { dialog, shown, rules, answers, press } = dialogOf();
    const write = { toolName: 'write_file', subject: '.envrc', mustAsk: '".envrc" is protected.' };
    dialog.ask(request('1', { ...write, summary: '+1' }));
    expect(shown.slice(0, 2)).toEqual([
      expect.stringMatching(/write_file +\.envrc/),
      '      ".envrc" is protected.',
    ]);
    expect(dialog.footer()).toEqual(['    y allow   n deny   e deny with a reason']);
    press('a');
    expect([rules, answers]).toEqual([[], []]);
    const narrow = dialogOf(30);
    narrow.dialog.ask(request('1', { ...write, mustAsk: 'This command wants to use the network.' }));
    expect(narrow.shown.slice(1, 3)).toEqual(['      This command wants to', '      use the network.']);
  });

  test('allows with key y and denies with key n, one call per key press', () => {
    const { dialog, answers, press } = dialogOf();
    dialog.ask(request('1'));
    dialog.ask(request('2', { subject: 'npm run x' }));
    press('y', 'n', 'y');
    expect(answers).toEqual([
      ['1', { decision: 'allow' }],
      ['2', { decision: 'deny' }],
    ]);
    expect(dialog.open).toBe(false);
  });

  test('ignores all other keys and has no default', () => {
    const { dialog, answers, press } = dialogOf();
    dialog.ask(request('1'));
    press({ type: 'enter' }, ' ', 'x', { type: 'escape' }, { type: 'backspace' }, 'd');
    expect(answers).toEqual([]);
    expect(dialog.open).toBe(true);
  });

  test('with key a, stores a rule and allows pending calls that match it', () => {
    const { dialog, answers, rules, press } = dialogOf();
    dialog.ask(request('1'));
    dialog.ask(request('2'));
    dialog.ask(request('3', { subject: 'npm run other' }));
    press('a');
    expect(rules).toEqual(['run_command(npm test)']);
    expect(answers.map(([id, answer]) => [id, answer.decision])).toEqual([
      ['1', 'allow'],
      ['2', 'allow'],
    ]);
    expect(dialog.open).toBe(true);
  });

  test('does not offer key a for a joined or destructive command, and ignores it', () => {
    const { dialog, answers, rules, press } = dialogOf();
    dialog.ask(request('1', { subject: 'npm test && rm -rf x' }));
    expect(dialog.footer().join()).not.toContain('always');
    press('a');
    expect([answers, rules]).toEqual([[], []]);
  });

  test('with key e, denies for a typed reason', () => {
    const { dialog, answers, press } = dialogOf();
    dialog.ask(request('1'));
    press('e', ...Array.from('usey'), { type: 'backspace' }, ...Array.from(' a fake'));
    expect(dialog.footer()[0]).toContain('deny because: use a fake_');
    press({ type: 'enter' });
    expect(answers).toEqual([['1', { decision: 'deny', message: 'use a fake' }]]);
  });

  test('returns from the reason to the keys on Esc', () => {
    const { dialog, answers, press } = dialogOf();
    dialog.ask(request('1'));
    press('e', 'n', { type: 'escape' });
    expect(answers).toEqual([]);
    expect(dialog.footer()[0]).toContain('y allow');
  });

  test('allows a long diff only after key d has shown it completely [P21]', () => {
    const { dialog, shown, answers, rules, press } = dialogOf();
    dialog.ask(
      request('1', { toolName: 'write_file', subject: 'a.txt', diff, arguments: { path: 'a.txt' } }),
    );
    expect(shown.at(-1)).toBe('      + 24 lines');
    expect(dialog.footer()).toEqual(['    d show all of it, then allow   n deny   e deny with a reason']);
    // Otherwise, the key would begin a message.
    expect(dialog.accepts('y')).toBe(true);
    press('y', 'a');
    expect([answers, rules]).toEqual([[], []]);
    press('d');
    expect(shown.at(-1)).toBe('      40 + line 39');
    expect(dialog.footer()[0]).toContain('y allow   a always');
    press('y');
    expect(answers).toEqual([['1', { decision: 'allow' }]]);
  });

  test('shows a long command completely, with escaped control characters [P21]', () => {
    const { dialog, shown } = dialogOf(40);
    const subject = `echo ${'x'.repeat(100)}\x1b[2K\r; rm -rf /`;
    dialog.ask(request('1', { subject }));
    const text = shown.map((line) => line.trimStart()).join('');
    expect(text).toContain(`${'x'.repeat(100)}\\u{1b}[2K\\u{d}; rm -rf /`);
  });

  test('does not accept yes while the start of a long command is off the screen [P21]', () => {
    const { dialog, shown, answers, press } = dialogOf();
    const command = `rm -rf /; echo ${'x'.repeat(20_000)}`;
    dialog.ask(request('1', { subject: command, arguments: { command } }));
    press('y', 'a');
    expect({ answers, rows: Math.ceil(shown.join('').length / 100) < 24 }).toEqual({
      answers: [],
      rows: true,
    });
    shown.length = 0;
    press('d');
    const text = shown.map((line) => line.trim()).join('');
    expect(text).toBe(`command | ${command}`);
    press('y');
    expect(answers).toEqual([['1', { decision: 'allow' }]]);
  });

  test('shows all arguments of a tool without a subject', () => {
    const { dialog, shown } = dialogOf();
    dialog.ask(request('1', { toolName: 'mail', subject: '', arguments: { to: 'a@b.c' } }));
    expect(shown[0]).toContain('{"to":"a@b.c"}');
  });

  test('fits a narrow terminal', () => {
    const { dialog } = dialogOf(40);
    dialog.ask(request('1'));
    for (const line of dialog.footer()) expect(line.length).toBeLessThan(40);
  });
});

test('keysOf decodes the input of a raw terminal', () => {
  expect(keysOf('y')).toEqual([{ type: 'text', text: 'y' }]);
  expect(keysOf('ü日')).toEqual([
    { type: 'text', text: 'ü' },
    { type: 'text', text: '日' },
  ]);
  expect(keysOf('\r\x7f\x03\x1a').map((key) => key.type)).toEqual([
    'enter',
    'backspace',
    'interrupt',
    'suspend',
  ]);
  expect(keysOf('\x1b')).toEqual([{ type: 'escape' }]);
  expect(keysOf('\x1b[A')).toEqual([{ type: 'other' }]);
});
