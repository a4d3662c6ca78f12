import { describe, expect, it } from 'vitest';
import { approvalText, argumentLines } from '../../src/events/approval-text.ts';
import { visibleText } from '../../src/events/visible-text.ts';

describe('the text of an approval [P21]', () => {
  it('contains the tool and every argument, strings line by line and everything else as JSON', () => {
    const text = approvalText({
      toolName: 'run_command',
      summary: 'in src',
      arguments: { command: 'a |\n b\n', timeout_ms: 3, flags: ['x\ny'], none: null },
    });
    expect(text).toBe(
      [
        'run_command  in src',
        ...['command:', '  | a |', '  |  b', '  |', 'timeout_ms: 3'],
        ...['flags: [', '    "x\\ny"', '  ]', 'none: null'],
      ].join('\n'),
    );
  });

  it.each([
    ['an escape sequence', '\x1b[2K', '\\u{1b}[2K'],
    ['a carriage return', 'a\rb', 'a\\u{d}b'],
    ['a C1 control', '\x9b', '\\u{9b}'],
    ['a bidirectional control', '\u202e\u2066\u061c', '\\u{202e}\\u{2066}\\u{61c}'],
    ['a zero-width space', 'a\u200bb\u2060\ufeff', 'a\\u{200b}b\\u{2060}\\u{feff}'],
    ['other spaces', '\u00a0\u2003\u3000', '\\u{a0}\\u{2003}\\u{3000}'],
    ['fillers', '\u3164\u115f\uffa0\u2800', '\\u{3164}\\u{115f}\\u{ffa0}\\u{2800}'],
    ['tag characters and variation selectors', '\u{e0041}\ufe0f', '\\u{e0041}\\u{fe0f}'],
    ['line separators', '\u2028\u2029', '\\u{2028}\\u{2029}'],
    ['a lone surrogate', '\ud800', '\\u{d800}'],
    ['a private-use character', '\ue000', '\\u{e000}'],
    ['visible characters, with newline and tab', 'é 日\n\tü🧵', 'é 日\n\tü🧵'],
  ])('shows %s', (_what, text, shown) => {
    expect(visibleText(text)).toBe(shown);
    expect(argumentLines({ toolName: 't', arguments: { a: text } }).join('\n')).toContain(
      shown.replace('\n', '\n  | '),
    );
  });

  it('omits the text of a string only if the diff contains all of it', () => {
    const diff = '--- a\n+++ a\n@@ -1,2 +1,2 @@\n same\n-old line\n+new line\n\\ No newline at end of file\n';
    const lines = (content: string) => argumentLines({ toolName: 't', arguments: { content }, diff });
    expect(lines('same\nnew line')).toEqual(['content: see the diff']);
    expect(lines('same\nold line\n')).toEqual(['content: see the diff']);
    expect(lines('new line')).toEqual(['content | new line']);
    expect(lines('same\nnew line\nmore')).toEqual(['content:', '  | same', '  | new line', '  | more']);
  });

  it('ignores a truncated diff [P21]', () => {
    const diff = '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-old\n… 9 bytes omitted …\nevil\nsame\n';
    const lines = argumentLines({ toolName: 't', arguments: { content: 'evil\nsame' }, diff });
    expect(lines).toEqual(['content:', '  | evil', '  | same']);
  });

  it('makes spaces at the end of a line visible', () => {
    const lines = argumentLines({ toolName: 't', arguments: { a: 'x  \n \t\n', b: '' } });
    expect(lines).toEqual(['a:', '  | x\\u{20}\\u{20}', '  | \\u{20}\\u{9}', '  |', 'b |']);
  });

  it('omits only strings that are shown elsewhere with the same characters', () => {
    const call = { toolName: 'run_command', arguments: { command: 'npm test ', cwd: 'src' } };
    expect(argumentLines(call, ['npm test'])).toEqual(['command | npm test\\u{20}', 'cwd | src']);
    expect(argumentLines(call, ['npm test '])).toEqual(['cwd | src']);
  });

  it('says first why it asks again, and which calls run before this one', () => {
    const after = ['edit_file build\u{202e}.sh', 'run_command npm ci'];
    const call = { toolName: 'run_command', arguments: { command: './build.sh' }, after, isRepeated: true };
    expect(argumentLines(call)).toEqual([
      'This call would no longer do what you allowed.',
      'after | edit_file build\\u{202e}.sh',
      'after | run_command npm ci',
      'command | ./build.sh',
    ]);
  });
});
