import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { screenFor } from '../../src/terminal/screen.ts';
import { Terminal } from '../../src/terminal/terminal.ts';
import { fakeOutput } from '../support/fake-io.ts';
import { TinyScreen } from '../support/tiny-screen.ts';

function terminalOf(columns = 40, env: Record<string, string> = { LANG: 'C.UTF-8' }) {
  const all: string[] = [];
  const out = fakeOutput(true, columns, all);
  const err = fakeOutput(true, columns, all);
  const terminal = new Terminal(out, err, screenFor(err, env));
  const page = () => {
    const screen = new TinyScreen(columns);
    screen.write(all.join(''));
    return screen;
  };
  return { terminal, all, out, err, page };
}

describe('Terminal', () => {
  test('draws the footer below the page and removes it completely', () => {
    const { terminal, page } = terminalOf();
    terminal.lines(['first']);
    terminal.footer(['working']);
    expect(page().text()).toBe('first\nworking');
    terminal.lines(['second']);
    expect(page().text()).toBe('first\nsecond\nworking');
    terminal.footer([]);
    expect(page().text()).toBe('first\nsecond\n');
  });

  test('continues text where it ended, even with a footer below it', () => {
    const { terminal, page } = terminalOf();
    terminal.text('half a ');
    terminal.footer(['working', 'two lines']);
    expect(page().text()).toBe('half a\nworking\ntwo lines');
    terminal.text('line');
    expect(page().text()).toBe('half a line\nworking\ntwo lines');
    terminal.close();
    expect(page().text()).toBe('half a line\n\n');
  });

  test('starts a whole line on a new line after partial text', () => {
    const { terminal, page } = terminalOf();
    terminal.text('half');
    terminal.lines(['whole']);
    expect(page().text()).toBe('half\nwhole\n');
  });

  test('shows all written text and then the footer, for any order of writes', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('text' as const), text: fc.stringMatching(/^[a-c \n]{0,12}$/) }),
      fc.record({ kind: fc.constant('lines' as const), text: fc.stringMatching(/^[a-c]{1,9}$/) }),
      fc.record({ kind: fc.constant('footer' as const), text: fc.stringMatching(/^[x-z]{0,9}$/) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { terminal, page } = terminalOf(200);
        let written = '';
        let footer = '';
        for (const { kind, text } of steps) {
          if (kind === 'footer') {
            footer = text;
            terminal.footer(text === '' ? [] : [text]);
          } else if (kind === 'text') {
            written += text;
            terminal.text(text);
          } else {
            written += `${written === '' || written.endsWith('\n') ? '' : '\n'}${text}\n`;
            terminal.lines([text]);
          }
        }
        const below = footer === '' || written === '' || written.endsWith('\n') ? footer : `\n${footer}`;
        const trimmed = (written + below).split('\n').map((line) => line.trimEnd());
        expect(
          page()
            .lines.map((line) => line.trimEnd())
            .slice(0, trimmed.length),
        ).toEqual(trimmed);
      }),
    );
  });

  test('does not redraw an unchanged footer', () => {
    const { terminal, all } = terminalOf();
    terminal.footer(['same']);
    const before = all.length;
    terminal.footer(['same']);
    expect(all.length).toBe(before);
  });

  test('erases all rows of a wrapped footer after the terminal became narrower', () => {
    const { terminal, err, all } = terminalOf(60);
    terminal.lines(['page']);
    terminal.footer(['a footer of fifty characters, or of a few less.']);
    err.resize(20);
    all.length = 0;
    terminal.footer([]);
    expect(all.join('')).toBe('\x1b[?2026h\r\x1b[K\x1b[1A\x1b[K\x1b[1A\x1b[K\x1b[?2026l');
  });

  test('writes plain lines without a footer to a dumb terminal', () => {
    const { terminal, all } = terminalOf(40, { TERM: 'dumb' });
    terminal.lines(['one']);
    terminal.footer(['working']);
    terminal.text('answer');
    terminal.close();
    expect(all.join('')).toBe('one\nanswer\n');
  });
});
