// The commands in the documentation.
import type { Block, Page } from './documents.ts';
import { blocksOf, inlineCodeOf } from './documents.ts';
import { wholeProgramsOf } from './programs.ts';

/** A command in a page. */
export interface Command {
  readonly page: string;
  readonly line: number;
  /** The text as written, without comments around it. */
  readonly text: string;
  /** True for inline code, which is run once for all pages. */
  readonly isInline: boolean;
  /** The whole block, for its first command: it shows the directory in which the reader types it. */
  readonly begins?: string;
  /** The program, if this is a program of the page instead of a typed command. */
  readonly program?: Block;
}

const shells = new Set(['sh', 'bash', 'shell', 'zsh', 'console']);

/** Programs whose inline mention is a command. A capital letter after the name starts a sentence instead. */
const programs =
  /^(npm|npx|pnpm|node|cobbler|api|curl|podman|docker|sudo|systemctl|claude|codex|git) [^\s=A-Z]/;

/** Returns every command and every complete program of a page in the order of their lines. */
export function stepsOf(page: Page): Command[] {
  const programs = wholeProgramsOf(page).map((block) => {
    const { line, text } = block;
    return { page: page.path, line, text, isInline: false, begins: text, program: block };
  });
  return [...commandsOf(page), ...programs].sort((left, right) => left.line - right.line);
}

/** Returns every command of a page in the order of its lines. */
export function commandsOf(page: Page): Command[] {
  const inBlocks = blocksOf(page)
    .filter(({ language }) => shells.has(language))
    .flatMap(commandsIn);
  const inline = inlineCodeOf(page)
    .filter(({ text }) => programs.test(text))
    .map(({ line, text }) => ({ page: page.path, line, text, isInline: true, begins: text }));
  return [...inBlocks, ...inline].sort((left, right) => left.line - right.line);
}

/** Returns the commands of a block; incomplete lines are joined. In a console block, only lines after `$` count. */
function commandsIn({ page, line, language, text }: Block): Command[] {
  const commands: Command[] = [];
  const place = (at: number) => ({
    page,
    line: at,
    isInline: false,
    ...(commands.length === 0 && { begins: text }),
  });
  let whole = '';
  let start = line;
  for (const [index, raw] of text.split('\n').entries()) {
    if (whole === '' && language === 'console' && !raw.startsWith('$ ')) continue;
    const typed = whole === '' && language === 'console' ? raw.slice(2) : raw;
    if (whole === '') start = line + index;
    whole += whole === '' ? typed : `\n${typed}`;
    if (!isWhole(whole)) continue;
    const command = withoutComment(whole).trim();
    if (command !== '') commands.push({ ...place(start), text: command });
    whole = '';
  }
  if (whole.trim() !== '') commands.push({ ...place(start), text: whole.trim() });
  return commands;
}

/** Returns whether a shell would run the text instead of asking for more input. */
function isWhole(text: string): boolean {
  const { quote, depth, commentAt } = scan(text);
  const [, word] = /<<-?\s*'?"?(\w+)/.exec(text) ?? [];
  if (word !== undefined && !new RegExp(`\\n\\s*${word}\\s*$`).test(text)) return false;
  return quote === '' && depth === 0 && !(commentAt < 0 && /\\\s*$/.test(text));
}

/** Returns a command without the comment after its last line. */
function withoutComment(text: string): string {
  const { commentAt } = scan(text);
  return commentAt < 0 ? text : text.slice(0, commentAt);
}

/** Scans a text like a shell, as far as needed to find the end of a command. */
function scan(text: string): { quote: string; depth: number; commentAt: number } {
  let quote = '';
  let depth = 0;
  let commentAt = -1;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (commentAt >= 0 && char !== '\n') continue;
    if (char === '\n') commentAt = -1;
    else if (quote !== '') {
      if (char === '\\' && quote === '"') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '\\') at += 1;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '#' && /^$|\s/.test(text[at - 1] ?? '')) commentAt = at;
    else if ('({'.includes(char)) depth += 1;
    else if (')}'.includes(char)) depth -= 1;
  }
  return { quote, depth, commentAt };
}
