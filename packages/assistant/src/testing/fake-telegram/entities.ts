import { read, text as readString } from '@cobbler/agent/input';
import { Refused } from './refused.ts';

/** A message as users see it, with its formatted ranges. */
export interface ReadText {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** A formatted range of a text, as the Bot API describes it. */
export interface Entity {
  /** `bold`, `italic`, `underline`, `strikethrough`, `spoiler`, `code`, `pre`, `text_link`, `blockquote`. */
  readonly type: string;
  /** Offset in UTF-16 code units of the visible text. */
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

const types: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
};

interface OpenTag {
  readonly name: string;
  readonly offset: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Parses Telegram's HTML and rejects what the Bot API rejects, with its messages. */
export function readHtml(html: string): ReadText {
  read(html, readString, 'html');
  const entities: Entity[] = [];
  const open: OpenTag[] = [];
  let text = '';
  let at = 0;
  while (at < html.length) {
    const sign = html.charAt(at);
    if (sign === '&') {
      const [character, length] = reference(html.slice(at, at + 12));
      text += character;
      at += length;
    } else if (sign !== '<') {
      text += sign;
      at += 1;
    } else if (html.charAt(at + 1) === '/') {
      at = closeTag(html, at, open, entities, text.length);
    } else {
      const [tag, next] = openTag(html, at, text.length);
      open.push(tag);
      at = next;
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined)
    throw cannotParse(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  return { text, entities: entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length) };
}

function openTag(html: string, at: number, offset: number): [OpenTag, number] {
  const place = byteOffset(html, at);
  const name = (/^<([^\s>]*)/.exec(html.slice(at))?.[1] ?? '').toLowerCase();
  let next = at + 1 + name.length;
  if (next >= html.length) throw cannotParse(`Unclosed start tag at byte offset ${place}`);
  if (!Object.hasOwn(types, name))
    throw cannotParse(`Unsupported start tag "${name}" at byte offset ${place}`);
  const attributes: Record<string, string> = {};
  for (;;) {
    while (/\s/.test(html.charAt(next))) next += 1;
    if (next >= html.length) throw cannotParse(`Unclosed start tag "${name}" at byte offset ${place}`);
    if (html.charAt(next) === '>') break;
    const attribute = /^([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+)))?/.exec(html.slice(next));
    if (attribute === null)
      throw cannotParse(`Empty attribute name in the tag "${name}" at byte offset ${place}`);
    const value = attribute[2] ?? attribute[3] ?? attribute[4];
    if (value === undefined && name !== 'blockquote')
      throw cannotParse(
        `Expected equal sign in declaration of an attribute of the tag "${name}" at byte offset ${place}`,
      );
    attributes[(attribute[1] ?? '').toLowerCase()] = unescaped(value ?? '');
    next += attribute[0].length;
  }
  if (name === 'span' && attributes['class'] !== 'tg-spoiler')
    throw cannotParse(`Tag "span" must have class "tg-spoiler" at byte offset ${place}`);
  return [{ name, offset, attributes }, next + 1];
}

function closeTag(html: string, at: number, open: OpenTag[], entities: Entity[], length: number): number {
  const place = byteOffset(html, at);
  const tag = open.pop();
  if (tag === undefined) throw cannotParse(`Unexpected end tag at byte offset ${place}`);
  const end = /^<\/([^\s>]*)\s*>/.exec(html.slice(at));
  if (end === null) throw cannotParse(`Unclosed end tag at byte offset ${place}`);
  const name = (end[1] ?? '').toLowerCase();
  if (name !== '' && name !== tag.name)
    throw cannotParse(
      `Unmatched end tag at byte offset ${place}, expected "</${tag.name}>", found "</${name}>"`,
    );
  if (length > tag.offset) addEntity(tag, open, entities, length);
  return at + end[0].length;
}

function addEntity(tag: OpenTag, open: readonly OpenTag[], entities: Entity[], end: number): void {
  const { name, offset, attributes } = tag;
  const language = /^language-(.+)$/.exec(attributes['class'] ?? '')?.[1];
  // The language belongs to the code block around this element, which then is not inline code.
  if (name === 'code' && open.at(-1)?.name === 'pre' && language !== undefined) {
    entities.push({ type: 'pre', offset, length: end - offset, language });
    return;
  }
  const same = entities.some((entity) => entity.type === 'pre' && entity.offset === offset && name === 'pre');
  const { href: url } = attributes;
  if (same || (name === 'a' && !/^(?:https?|tg):\/\//i.test(url ?? ''))) return;
  entities.push({
    type: types[name] ?? name,
    offset,
    length: end - offset,
    ...(name === 'a' && url !== undefined && { url }),
  });
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Returns the character of a reference and the length of the reference. Unknown references are text. */
function reference(text: string): [string, number] {
  const match = /^&(?:#(\d{1,8})|#x([\da-f]{1,6})|(lt|gt|amp|quot));?/i.exec(text);
  if (match === null) return ['&', 1];
  const name = match[3]?.toLowerCase();
  if (name !== undefined) return [characters[name] ?? '&', match[0].length];
  const code = match[1] === undefined ? Number.parseInt(match[2] ?? '', 16) : Number(match[1]);
  if (!(code > 0 && code <= 0x10ffff)) return ['&', 1];
  return [String.fromCodePoint(code), match[0].length];
}

function unescaped(text: string): string {
  return text.replace(/&[^;\s]{1,10};/g, (raw) => reference(raw)[0]);
}

function byteOffset(text: string, index: number): number {
  return new TextEncoder().encode(text.slice(0, index)).length;
}

function cannotParse(what: string): Refused {
  return new Refused(400, `Bad Request: can't parse entities: ${what}`);
}
