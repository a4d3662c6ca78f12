import { expect, test } from 'vitest';
import { styleFor } from '../../src/terminal/style.ts';
import { RunActivity } from '../../src/view/activity.ts';
import { footerLines } from '../../src/view/footer.ts';
import { ToolCallList } from '../../src/view/tool-calls.ts';

test('shows the last four lines of a running command, without control characters, until it ends', () => {
  const calls = new ToolCallList([]);
  const activity = new RunActivity('the-model', calls, () => 0);
  const style = styleFor({ color: false, unicode: true, tty: true });
  const shown = () => footerLines(activity.current, 0, style, 40);
  const progress = (text: string, toolName = 'run_command') =>
    activity.event({ type: 'progress', callId: 'c0', toolName, text });
  activity.event({ type: 'text_delta', index: 0, text: 'x' });
  for (const text of ['1', '2\x1b[2J', '3', '4', 'x'.repeat(99)]) progress(text);
  expect(shown()).toEqual([
    '    2\\x1b[2J',
    '    3',
    '    4',
    `    ${'x'.repeat(34)}…`,
    '⠋ writing · 0 s · Ctrl-C stops',
  ]);
  progress('step 2', 'another_tool');
  expect(shown().at(-1)).toBe('⠋ writing: step 2 · 0 s · Ctrl-C stops');
  activity.event({ type: 'reasoning_delta', index: 0, text: 'x' });
  expect(shown()).toEqual(['⠋ thinking · 0 s · Ctrl-C stops']);
});
