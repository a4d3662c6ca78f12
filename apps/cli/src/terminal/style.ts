import type { FileConfig } from '@cobbler/agent/node';
import type { TokenKind } from './highlighter.ts';
import type { Screen } from './screen.ts';

/** The colors of the output. */
export type Theme = NonNullable<FileConfig['theme']>;

type Palette = readonly [string, string, string, string, string, string, string, string];

/**
 * SGR codes of red, green, yellow and cyan, and of keywords, strings, numbers and names in code: on a light background,
 * and told apart without red and green. Code has neither of these two, because they mark changed lines.
 */
const palettes: Readonly<Record<Theme, Palette>> = {
  dark: ['31', '32', '33', '36', '35', '33', '33', '36'],
  light: ['31', '38;5;22', '38;5;94', '34', '38;5;90', '38;5;94', '38;5;94', '38;5;25'],
  none: ['', '', '', '', '', '', '', ''],
  colorblind: ['38;5;208', '38;5;75', '35', '36', '35', '33', '33', '36'],
};

export const themes: readonly Theme[] = Object.keys(palettes) as Theme[];

/** Symbols that show a state even without colors. */
export interface Marks {
  readonly ok: string;
  readonly failed: string;
  readonly ask: string;
  readonly stopped: string;
  readonly dash: string;
  /** Separates facts on one line. */
  readonly dot: string;
  readonly ellipsis: string;
  readonly bullet: string;
  /** Prefix of user messages. */
  readonly prompt: string;
  readonly spinner: readonly string[];
}

const unicodeMarks: Marks = {
  ok: '✓',
  failed: '✗',
  ask: '?',
  stopped: '■',
  dash: '—',
  dot: '·',
  ellipsis: '…',
  bullet: '•',
  prompt: '›',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const asciiMarks: Marks = {
  ok: 'ok',
  failed: 'x',
  ask: '?',
  stopped: '#',
  dash: '--',
  dot: '-',
  ellipsis: '...',
  bullet: '*',
  prompt: '>',
  spinner: ['|', '/', '-', '\\'],
};

/** Without a terminal, words replace the symbols, which are of no use in a log. */
const noMarks = { ok: '', failed: '', ask: '', stopped: '' } as const;

type Paint = (text: string) => string;

/** Colors, if enabled, and the symbols that the terminal's locale can show. */
export interface Style {
  readonly theme: Theme;
  readonly color: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly strike: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  /** The colors of code; comments are dimmed. */
  readonly code: Readonly<Record<Exclude<TokenKind, 'comment'>, Paint>>;
  readonly marks: Marks;
}

/** The capabilities that decide the style. */
export type StyledScreen = Pick<Screen, 'color' | 'unicode' | 'tty'>;

/** Returns the style for a terminal, or for other output. */
export function styleFor(screen: StyledScreen, theme: Theme = 'dark'): Style {
  const marks = screen.unicode ? unicodeMarks : asciiMarks;
  const color = screen.color && theme !== 'none';
  const paint = (open: number | string, close: number): Paint =>
    color ? (text) => (text === '' ? '' : `\x1b[${open}m${text}\x1b[${close}m`) : (text) => text;
  const [red, green, yellow, cyan, keyword, string, number, name] = palettes[theme];
  return {
    theme,
    color,
    bold: paint(1, 22),
    dim: paint(2, 22),
    italic: paint(3, 23),
    underline: paint(4, 24),
    strike: paint(9, 29),
    red: paint(red, 39),
    green: paint(green, 39),
    yellow: paint(yellow, 39),
    cyan: paint(cyan, 39),
    code: {
      keyword: paint(keyword, 39),
      string: paint(string, 39),
      number: paint(number, 39),
      name: paint(name, 39),
      added: paint(green, 39),
      removed: paint(red, 39),
    },
    marks: screen.tty ? marks : { ...marks, ...noMarks },
  };
}
