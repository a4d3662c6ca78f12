import { setImmediate as pause } from 'node:timers/promises';
import { notFetched } from './url.ts';

/** Maximum depth of elements. The parser's time for a tag grows with it. */
const maxDepth = 256;

/** Maximum number of characters. Relative links become longer, so a text can be longer than its page. */
const maxCharacters = 2_000_000;

/** Number of characters that are parsed at once. Other work of the process continues in between. */
const chunkSize = 65_536;

/** Elements whose content is not part of the text. */
const skipped = new Set(['script', 'style', 'template', 'svg', 'math', 'iframe', 'object', 'canvas']);

/** Elements with an empty line before and after them, and those that only begin a new line. */
const blocks = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl pre table blockquote article section title'.split(' '));
const lines = new Set(
  'div li dt dd tr br hr main header footer nav aside figure form summary option'.split(' '),
);

/** What can separate texts, the weakest first. */
const separators = ['', ' ', '\n', '\n\n'];

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
    ontext: (text) => page.add(text),
  });
  for (let at = 0; at < html.length && page.size <= maxCharacters; at += chunkSize) {
    parser.write(html.slice(at, at + chunkSize));
    await pause();
    signal.throwIfAborted();
  }
  parser.end();
  const text = page.parts.join('').slice(0, maxCharacters).trim();
  return { text, isWhole: page.size <= maxCharacters };
}

class PageText {
  readonly parts: string[] = [];
  size = 0;
  readonly #base: URL;
  readonly #open: OpenElement[] = [];
  /** What separates the next text from the text before: line breaks, or a space. */
  #gap = '';
  /** True directly after a mark such as that of a list item, with which the text shares a line. */
  #isMarked = false;
  #pre = 0;

  constructor(base: URL) {
    this.#base = base;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#open.length >= maxDepth) throw notFetched('The page is nested too deeply to be read.');
    const { hidden, style = '' } = attributes;
    const isHidden = skipped.has(name) || hidden !== undefined || /display\s*:\s*none/i.test(style);
    const isShown = !isHidden && this.#open.at(-1)?.isShown !== false;
    const [start, end = ''] = isShown ? this.#marks(name, attributes) : [];
    if (isShown) this.#break(name);
    if (name === 'pre') this.#pre += 1;
    this.#open.push({ name, end, isShown });
    if (start === undefined) return;
    this.#put(start);
    this.#isMarked = start.endsWith(' ');
  }

  close(): void {
    const { name, end, isShown } = this.#open.pop() ?? { name: '', end: '', isShown: false };
    if (name === 'pre') this.#pre -= 1;
    this.#isMarked = false;
    // Directly after the text, without the space before the next one.
    if (end !== '') this.#append(end);
    if (isShown) this.#break(name);
  }

  add(given: string): void {
    if (this.#open.at(-1)?.isShown === false) return;
    if (this.#pre > 0) return this.#put(given);
    const text = given.replace(/\s+/g, ' ');
    if (text.startsWith(' ')) this.#separate(' ');
    if (text !== ' ') this.#put(text.trim());
    if (text.endsWith(' ')) this.#separate(' ');
  }

  #marks(name: string, { alt, href }: Attributes): readonly [start?: string, end?: string] {
    if (/^h[1-6]$/.test(name)) return [`${'#'.repeat(Number(name[1]))} `];
    if (name === 'title') return ['Title: '];
    if (name === 'li') return ['- '];
    if (name === 'td' || name === 'th') return ['| ', ' '];
    if (name === 'blockquote') return ['> '];
    if (name === 'pre') return ['```\n', '\n```'];
    if (name === 'code' && this.#pre === 0) return ['`', '`'];
    if (name === 'img' && alt) return [`[image: ${alt}]`];
    const link = name === 'a' && href !== undefined ? URL.parse(href, this.#base) : null;
    return link !== null && /^https?:$/.test(link.protocol) ? ['[', `](${link.href})`] : [];
  }

  #break(name: string): void {
    this.#separate(blocks.has(name) ? '\n\n' : lines.has(name) ? '\n' : '');
  }

  #separate(gap: string): void {
    if (!this.#isMarked && separators.indexOf(gap) > separators.indexOf(this.#gap)) this.#gap = gap;
  }

  #put(text: string): void {
    this.#append(this.parts.length === 0 ? text : this.#gap + text);
    this.#gap = '';
    this.#isMarked = false;
  }

  #append(text: string): void {
    this.parts.push(text);
    this.size += text.length;
  }
}
