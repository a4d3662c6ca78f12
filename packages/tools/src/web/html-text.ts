import { setImmediate as pause } from 'node:timers/promises';
import { notFetched } from './web-request.ts';

/** Maximum depth of elements. The parser's time for a tag grows with it. */
const maxDepth = 256;

/** Maximum number of characters. Relative links become longer, so a text can be longer than its page. */
const maxCharacters = 2_000_000;

/** Number of characters that are parsed at once. Other work of the process continues in between. */
const chunkSize = 65_536;

/** Elements whose content is not part of the text. */
const skipped = new Set(['script', 'style', 'template', 'svg', 'math', 'iframe', 'object', 'canvas']);

/** Elements that begin a new line, and whether an empty line comes before. */
const blocks: Readonly<Record<string, number>> = {
  ...{ p: 2, h1: 2, h2: 2, h3: 2, h4: 2, h5: 2, h6: 2, ul: 2, ol: 2, dl: 2, pre: 2, table: 2, blockquote: 2 },
  ...{
    article: 2,
    section: 2,
    main: 2,
    header: 2,
    footer: 2,
    nav: 2,
    aside: 2,
    figure: 2,
    form: 2,
    title: 2,
  },
  ...{ div: 1, li: 1, dt: 1, dd: 1, tr: 1, br: 1, hr: 1, summary: 1, option: 1, figcaption: 1, caption: 1 },
};

type Attributes = Readonly<Record<string, string>>;

/** An open element: what ends it, and whether its text is shown. */
interface OpenElement {
  readonly name: string;
  readonly end: string;
  readonly isShown: boolean;
}

/**
 * Converts HTML to text in the form of Markdown: headings, lists, links and code. Elements that a browser hides are left
 * out. Builds no tree, so its time and memory are proportional to the page.
 * @throws AgentError `tool` if elements are nested too deeply.
 */
export async function htmlText(
  html: string,
  base: URL,
  signal: AbortSignal,
): Promise<{ text: string; isWhole: boolean }> {
  const { Parser } = await import('htmlparser2');
  const page = new PageText(base);
  const parser = new Parser({
    onopentag: (name, attributes) => page.open(name, attributes),
    onclosetag: () => page.close(),
    ontext: (text) => page.text(text),
  });
  for (let at = 0; at < html.length && page.isWhole; at += chunkSize) {
    parser.write(html.slice(at, at + chunkSize));
    await pause();
    signal.throwIfAborted();
  }
  parser.end();
  return { text: page.result(), isWhole: page.isWhole };
}

class PageText {
  readonly #base: URL;
  readonly #open: OpenElement[] = [];
  readonly #parts: string[] = [];
  #size = 0;
  /** Line breaks, and a space, before the next text. */
  #breaks = 0;
  #space = false;
  /** True directly after a mark such as that of a list item, with which the text shares a line. */
  #isMarked = false;
  #pre = 0;
  #lists = 0;

  constructor(base: URL) {
    this.#base = base;
  }

  get isWhole(): boolean {
    return this.#size <= maxCharacters;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#open.length >= maxDepth) throw notFetched('The page is nested too deeply to be read.');
    const isShown = (this.#open.at(-1)?.isShown ?? true) && !isHidden(name, attributes);
    if (isShown) this.#break(name);
    const [start, end] = isShown ? this.#marks(name, attributes) : ['', ''];
    if (name === 'pre') this.#pre += 1;
    if (name === 'ul' || name === 'ol') this.#lists += 1;
    this.#open.push({ name, end, isShown });
    this.#add(start);
    this.#isMarked = start.endsWith(' ');
  }

  close(): void {
    const element = this.#open.pop();
    if (element === undefined) return;
    const { name, end, isShown } = element;
    if (name === 'pre') this.#pre -= 1;
    if (name === 'ul' || name === 'ol') this.#lists -= 1;
    // Directly after the text, without the space before the next one.
    if (end !== '') this.#put(end);
    this.#isMarked = false;
    if (isShown) this.#break(name);
  }

  text(given: string): void {
    if (this.#open.at(-1)?.isShown === false) return;
    if (this.#pre > 0) return this.#add(given);
    const text = given.replace(/\s+/g, ' ');
    if (text.startsWith(' ')) this.#space = true;
    this.#add(text.trim());
    if (text.endsWith(' ')) this.#space = true;
  }

  result(): string {
    return this.#parts.join('').slice(0, maxCharacters).trim();
  }

  #marks(name: string, attributes: Attributes): readonly [start: string, end: string] {
    if (/^h[1-6]$/.test(name)) return [`${'#'.repeat(Number(name[1]))} `, ''];
    if (name === 'title') return ['Title: ', ''];
    if (name === 'li') return [`${'  '.repeat(Math.min(Math.max(this.#lists - 1, 0), 8))}- `, ''];
    if (name === 'td' || name === 'th') return ['| ', ' '];
    if (name === 'blockquote') return ['> ', ''];
    if (name === 'hr') return ['---', ''];
    if (name === 'pre') return ['```\n', '\n```'];
    if (name === 'code' && this.#pre === 0) return ['`', '`'];
    if (name === 'img' && attributes['alt']) return [`[image: ${attributes['alt']}]`, ''];
    const { href } = attributes;
    const link = name === 'a' && href !== undefined ? URL.parse(href, this.#base) : null;
    return link !== null && /^https?:$/.test(link.protocol) ? ['[', `](${link.href})`] : ['', ''];
  }

  #break(name: string): void {
    if (!this.#isMarked) this.#breaks = Math.max(this.#breaks, blocks[name] ?? 0);
  }

  /** Adds text after what separates it from the text before. */
  #add(text: string): void {
    if (text === '') return;
    const space = this.#space && !this.#isMarked ? ' ' : '';
    const gap = this.#breaks > 0 ? '\n'.repeat(this.#breaks) : space;
    this.#breaks = 0;
    this.#space = false;
    this.#isMarked = false;
    this.#put(this.#parts.length === 0 ? text : gap + text);
  }

  #put(text: string): void {
    if (this.#size <= maxCharacters) this.#parts.push(text);
    this.#size += text.length;
  }
}

function isHidden(name: string, { hidden, style = '' }: Attributes): boolean {
  return skipped.has(name) || hidden !== undefined || /display\s*:\s*none/i.test(style);
}
