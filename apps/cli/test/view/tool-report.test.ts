import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { styleFor } from '../../src/terminal/style.ts';
import { diffLines, diffSize } from '../../src/view/diff-lines.ts';
import type { ReportView, ToolReport } from '../../src/view/tool-report.ts';
import { plainReport, tellingLines, terminalReport } from '../../src/view/tool-report.ts';

const style = styleFor({ color: false, unicode: true, tty: true });
const view: ReportView = { style, columns: 80, verbose: false };

function reportOf(rest: Partial<ToolReport>): ToolReport {
  return {
    toolName: 'edit_file',
    subject: 'sum.js',
    outcome: 'ok',
    durationMs: 12,
    text: 'Replaced.',
    arguments: { path: 'sum.js' },
    printed: false,
    ...rest,
  };
}

const diff = [
  '--- sum.js',
  '+++ sum.js',
  '@@ -1,3 +1,3 @@',
  ' // adds',
  '-export const sum = (a, b) => a - b;',
  '+export const sum = (a, b) => a + b;',
  ' // end',
].join('\n');

describe('a finished call on a terminal', () => {
  test('is one line with mark, name, argument, outcome and time', () => {
    const [line = '', ...rest] = terminalReport(reportOf({ summary: '+1 -1' }), view);
    expect(line).toMatch(/^ {2}✓ edit_file {4}sum\.js +\+1 -1 {4}12 ms$/);
    expect(line).toHaveLength(79);
    expect(rest).toEqual([]);
  });

  test('shows the reason for a failure on the next line', () => {
    const lines = terminalReport(
      reportOf({ outcome: 'failed', text: 'sum.js was not changed: no such text.' }),
      view,
    );
    expect(lines[0]).toContain('✗ edit_file');
    expect(lines[1]).toBe('      sum.js was not changed: no such text.');
  });

  test('shows who denied the call', () => {
    const lines = terminalReport(reportOf({ outcome: 'denied', text: 'A person denied this call.' }), view);
    expect(lines[0]).toMatch(/✗ edit_file .* denied$/);
    expect(lines[1]).toBe('      A person denied this call.');
  });

  test('shows the change that it made', () => {
    expect(terminalReport(reportOf({ summary: '+1 -1', diff }), view).slice(1)).toEqual([
      '      1   // adds',
      '      2 - export const sum = (a, b) => a - b;',
      '      2 + export const sum = (a, b) => a + b;',
      '      3   // end',
    ]);
  });

  test('shows its arguments and full result in verbose mode', () => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    const lines = terminalReport(reportOf({ text }), { ...view, verbose: true });
    expect(lines[1]).toBe('      {"path":"sum.js"}');
    expect(lines).toHaveLength(32);
  });

  test('shows its state with ASCII marks without color and UTF-8', () => {
    const ascii = styleFor({ color: false, unicode: false, tty: true });
    const [ok] = terminalReport(reportOf({}), { ...view, style: ascii });
    const [bad] = terminalReport(reportOf({ outcome: 'failed' }), { ...view, style: ascii });
    expect(ok).toMatch(/^ {2}ok edit_file/);
    expect(bad).toMatch(/^ {2}x edit_file/);
  });

  test('has the same text with and without color', () => {
    const colored = styleFor({ color: true, unicode: true, tty: true });
    const report = reportOf({ summary: '+1 -1', diff });
    const lines = terminalReport(report, { ...view, style: colored });
    expect(lines.join('')).toContain('\x1b[');
    expect(lines.map(stripVTControlCharacters)).toEqual(terminalReport(report, view));
  });
});

test('a call without a terminal is reported in words', () => {
  expect(plainReport(reportOf({ summary: '+1 -1' }), view)).toEqual(['tool edit_file sum.js ok +1 -1 12ms']);
  expect(plainReport(reportOf({ outcome: 'denied', text: 'No.', durationMs: 0 }), view)).toEqual([
    'tool edit_file sum.js denied 0ms',
    '  No.',
  ]);
});

test('tellingLines omits stack frames, error fields and zero counts', () => {
  const output = [
    '✖ adds (1ms)',
    '  AssertionError: 5 !== -1',
    '      at Test.run (node:internal/test_runner/test:1402:25)',
    '      at async start (file:///x.js:3:1) {',
    '    code: "ERR_ASSERTION",',
    '    operator: "strictEqual"',
    '  }',
    '',
    'ℹ fail 1',
    'ℹ todo 0',
    'ℹ duration_ms 12.5',
  ];
  expect(tellingLines(output)).toEqual(['✖ adds (1ms)', '  AssertionError: 5 !== -1', 'ℹ fail 1']);
});

describe('diffs', () => {
  test('are counted by added and removed lines', () => {
    expect(diffSize(diff)).toEqual({ added: 1, removed: 1 });
  });

  test('wrap a changed line without cutting it, because the change may be at its end', () => {
    const lines = diffLines('@@ -1 +1 @@\n-abcdefghij\n+abcdefghijkl\n', style, 13);
    expect(lines).toEqual(['1 - abcdefghi', '    j', '1 + abcdefghi', '    jkl']);
  });

  test('count the lines that exceed the limit', () => {
    const long = `@@ -0,0 +1,9 @@\n${'+x\n'.repeat(9)}`;
    expect(diffLines(long, style, 40, 4)).toEqual(['1 + x', '2 + x', '3 + x', '4 + x', '+ 5 lines']);
  });

  test('show a removed line that resembles a header', () => {
    expect(diffLines('--- a\n+++ b\n@@ -1,2 +1 @@\n--- x\n y\n', style, 40)).toEqual(['1 - -- x', '1   y']);
  });
});
