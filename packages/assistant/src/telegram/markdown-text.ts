import type { MarkedToken, Token, Tokens } from 'marked';
import { Marked } from 'marked';
import type { TextRun, TextStyle } from './styled-text.ts';
import { mergeRuns, plain, surroundings, visibleText } from './styled-text.ts';

const marked = new Marked({ gfm: true, breaks: false });

/** Characters that messages cannot contain, or that are invisible. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e]/g;

/** Converts Markdown to runs of text. HTML is shown as text. Never throws: what cannot be parsed is not formatted. */
export function markdownText(markdown: string): TextRun[] {
  const source = markdown.toWellFormed().replace(/\r\n?/g, '\n').replace(controls, '');
  try {
    return mergeRuns(blocks(marked.lexer(source), plain, '\n\n'));
  } catch {
    // The parser fails on text that is nested thousands of levels deep.
    return mergeRuns([{ text: source, style: plain }]);
  }
}

function blocks(tokens: readonly Token[], style: TextStyle, separator: string): TextRun[] {
  const result: TextRun[] = [];
  for (const token of tokens) {
    const runs = block(token as MarkedToken, style);
    if (visibleText(runs) === '') continue;
    if (result.length > 0) result.push({ text: separator, style: surroundings(style) });
    result.push(...runs);
  }
  return result;
}

function block(token: MarkedToken, style: TextStyle): TextRun[] {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    case 'heading':
      return inline(token.tokens, { ...style, bold: true });
    case 'paragraph':
      return inline(token.tokens, style);
    case 'code':
      return [{ text: token.text, style: { ...surroundings(style), pre: languageOf(token.lang) } }];
    case 'blockquote':
      return blocks(token.tokens, { ...style, quote: true }, '\n\n');
    case 'list':
      return list(token, style);
    case 'table':
      return [{ text: table(token), style: { ...surroundings(style), pre: '' } }];
    case 'hr':
      return [{ text: '———', style }];
    case 'html':
      return [{ text: token.text.trimEnd(), style }];
    case 'text':
      return token.tokens === undefined ? [{ text: decode(token.text), style }] : inline(token.tokens, style);
    default:
      return inline([token], style);
  }
}

function list({ items, ordered, start }: Tokens.List, style: TextStyle): TextRun[] {
  const result: TextRun[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0) result.push({ text: '\n', style: surroundings(style) });
    result.push({ text: signOf(item, ordered ? (start === '' ? 1 : start) + index : undefined), style });
    result.push(...indent(blocks(item.tokens, style, '\n')));
  }
  return result;
}

function signOf({ task, checked }: Tokens.ListItem, number: number | undefined): string {
  if (task) return checked === true ? '☑ ' : '☐ ';
  return number === undefined ? '• ' : `${number}. `;
}

/** Indents the lines after the first one. Code stays unchanged. */
function indent(runs: readonly TextRun[]): TextRun[] {
  return runs.map((run) =>
    run.style.pre === undefined ? { ...run, text: run.text.replaceAll('\n', '\n   ') } : run,
  );
}

function table({ header, rows }: Tokens.Table): string {
  const cells = (row: readonly Tokens.TableCell[]) =>
    row.map(({ tokens }) => visibleText(inline(tokens, plain)).replaceAll('\n', ' '));
  return tableText([cells(header), ...rows.map(cells)]);
}

function inline(tokens: readonly Token[], style: TextStyle): TextRun[] {
  return tokens.flatMap((token) => span(token as MarkedToken, style));
}

function span(token: MarkedToken, style: TextStyle): TextRun[] {
  switch (token.type) {
    case 'strong':
      return inline(token.tokens, { ...style, bold: true });
    case 'em':
      return inline(token.tokens, { ...style, italic: true });
    case 'del':
      return inline(token.tokens, { ...style, strike: true });
    case 'codespan':
      // Telegram does not support links in code.
      return [
        {
          text: token.text,
          style: style.href === undefined ? { ...surroundings(style), code: true } : style,
        },
      ];
    case 'link':
      return link(token.href, inline(token.tokens, style), style);
    case 'image':
      return link(token.href, [{ text: token.text === '' ? 'image' : token.text, style }], style);
    case 'br':
      return [{ text: '\n', style }];
    case 'escape':
      return [{ text: token.text, style }];
    case 'text':
      return token.tokens === undefined ? [{ text: decode(token.text), style }] : inline(token.tokens, style);
    case 'checkbox':
      return [];
    default:
      return [{ text: token.raw, style }];
  }
}

/** Maximum length of a hidden address. Longer ones are shown, because Telegram limits the size of the markup. */
const maxAddressLength = 1000;

/** Returns a link. Telegram drops links with other protocols, so their address follows the text. */
function link(href: string, label: readonly TextRun[], style: TextStyle): TextRun[] {
  const words = visibleText(label);
  const { code: _, ...plain } = style;
  if (style.href === undefined && /^https?:\/\/[^\s]+$/i.test(href) && href.length <= maxAddressLength)
    return label.map(({ text }) => ({ text, style: { ...plain, href } }));
  if (href === '' || words === href || `mailto:${words}` === href) return [...label];
  return [...label, { text: ` (${href})`, style }];
}

/** Returns the name of a code block's language, without additional text. */
function languageOf(info: string | undefined): string {
  return /^[\w.+#-]{1,30}/.exec(info ?? '')?.[0] ?? '';
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Decodes character references, as a rendered page shows them. */
function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (raw, decimal, hex, name) => {
    if (name !== undefined) return named[String(name)] ?? raw;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    const usable = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return usable ? String.fromCodePoint(code).replace(controls, '') : raw;
  });
}

/** Characters that are two columns wide in a monospaced font. */
const wide =
  /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;
/** Characters without width. */
const narrow = /\p{M}|\u200d/u;

/** Returns the estimated width of a text in columns, without knowing the font. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text) columns += narrow.test(sign) ? 0 : wide.test(sign) ? 2 : 1;
  return columns;
}

/** Aligns the columns of a table, with a line below the first row, for a monospaced font. */
function tableText(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell));
  }
  const line = (cells: readonly string[]) =>
    widths
      .map((width, index) => pad(cells[index] ?? '', width))
      .join(' | ')
      .trimEnd();
  const [head, ...body] = rows;
  if (head === undefined) return '';
  const rule = widths.map((width) => '-'.repeat(Math.max(width, 1))).join('-+-');
  return [line(head), rule, ...body.map(line)].join('\n');
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(width - columnsOf(cell), 0));
}
