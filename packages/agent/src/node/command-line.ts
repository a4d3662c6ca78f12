import { read, text as readText } from '../values/input.ts';

/** One program of a command line, with the words that it receives. */
export interface CommandStep {
  /** The program and its arguments, without quotes. Never empty. */
  readonly argv: readonly string[];
  /** Redirections, such as `2>&1` or `>/dev/null`, in order. */
  readonly redirects: readonly string[];
}

/** What joins a step to the one before it. */
export type CommandOperator = '&&' | '||' | ';' | '|';

/** A command line whose meaning is certain: the same in every POSIX shell, whatever the files and variables. */
export interface CommandLine {
  readonly steps: readonly CommandStep[];
  /** The operators between the steps; one fewer than the steps. */
  readonly operators: readonly CommandOperator[];
}

/** A word, operator or redirection at the start of the rest. Double quotes expand nothing, and a tilde is only a character. */
const token =
  /^(?:(?<redirect>2>&1|[12]?> *\/dev\/null|< *\/dev\/null)(?=[ \t;|]|&&|$)|(?<operator>&&|\|\||;|\|)|(?<word>(?:[\w%+,./:=@^-]|(?<!^)#|(?<!^|[:=])~|'[^']*'|"[^"$`\\]*"|\\')+)(?=[ \t;|]|&&|$))/;

/** Words that start a compound command, or mean something else than a program in some shell. */
const reserved = new Set(
  '! [[ case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
);

/** Tried only where a run of blanks starts: a long run inside the line would otherwise be searched from each of its blanks. */
const outerBlanks = /^[ \t\n]+|(?<![ \t\n])[ \t\n]+$/g;

/** Characters that no word may contain, even in quotes: control characters and what cannot be stored as UTF-8. */
const unclear = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/u;

/**
 * Reads a command line of words, quotes, `&&`, `||`, `;`, `|`, `2>&1`, `>/dev/null`, `2>/dev/null` and `</dev/null`.
 * Returns undefined for anything else, such as variables, patterns, substitutions, backslashes, other redirections,
 * assignments, comments and several lines, because its meaning depends on more than the text.
 */
export function readCommandLine(text: string): CommandLine | undefined {
  const given = read(text, readText, 'text');
  if (unclear.test(given)) return undefined;
  const steps: { argv: string[]; redirects: string[] }[] = [{ argv: [], redirects: [] }];
  const operators: CommandOperator[] = [];
  for (let rest = given.replace(outerBlanks, ''); rest !== ''; ) {
    const { 0: all = '', groups = {} } = token.exec(rest) ?? {};
    const { redirect, operator, word } = groups;
    const step = steps.at(-1);
    if (word !== undefined) step?.argv.push(withoutQuotes(word));
    else if (redirect !== undefined) step?.redirects.push(redirect.replaceAll(' ', ''));
    else if (operator === undefined) return undefined;
    else {
      operators.push(operator as CommandOperator);
      steps.push({ argv: [], redirects: [] });
    }
    rest = rest.slice(all.length).replace(/^[ \t]+/, '');
  }
  return steps.every(isProgram) ? { steps, operators } : undefined;
}

/** Writes a command line for a POSIX shell, with every word in single quotes, so that the shell expands nothing. */
export function printCommandLine(line: CommandLine): string {
  return read(
    line,
    (given) => {
      const { steps, operators } = given as CommandLine;
      const texts = steps.map(({ argv, redirects }) => [...argv.map(quoted), ...redirects].join(' '));
      return texts.map((text, index) => (index === 0 ? '' : ` ${operators[index - 1]} `) + text).join('');
    },
    'line',
  );
}

function withoutQuotes(word: string): string {
  return word.replace(/\\'|'([^']*)'|"([^"]*)"/g, (all, single?: string, double?: string) =>
    all === "\\'" ? "'" : (single ?? double ?? ''),
  );
}

/** Returns whether the first word can only be a program: not a keyword, an assignment or empty. */
function isProgram({ argv: [program = ''] }: CommandStep): boolean {
  return program !== '' && !program.includes('=') && !reserved.has(program);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
