import { defined } from './defined.ts';
import { withArgumentErrors } from './errors.ts';
import { isObject } from './json.ts';
import type { FilePart, UserPart } from './stored-values.ts';
import { wellFormedParts } from './unicode.ts';

/** How services count a file: in pixels, seconds, pages or characters, or as the bytes of a format that they must support. */
export type FileKind = 'image' | 'audio' | 'pdf' | 'text' | 'other';

/** Returns the kind of a file from its media type, without parameters. */
export function fileKind(mediaType: string): FileKind {
  return withArgumentErrors('fileKind', () => {
    if (mediaType.startsWith('image/')) return 'image';
    if (mediaType.startsWith('audio/')) return 'audio';
    if (mediaType === 'application/pdf') return 'pdf';
    return mediaType.startsWith('text/') || mediaType === 'application/json' ? 'text' : 'other';
  });
}

/** Signatures of the binary file types that models accept. */
const signatures: readonly (readonly [mediaType: string, head: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
  ['audio/wav', /^RIFF[\s\S]{4}WAVE/],
  ['audio/mpeg', /^(ID3|\xff[\xf2\xf3\xfb])/],
];

/**
 * Returns the media type of a file from its first 16 bytes, because file names are not trusted; undefined for text and
 * unknown types.
 */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  return signatures.find(([, pattern]) => pattern.test(head))?.[0];
}

/** Returns whether a list such as `['image/png', 'text/*']` contains a media type. The subtype, or both parts, may be `*`. */
export function hasMediaType(list: readonly string[], mediaType: string): boolean {
  return withArgumentErrors('hasMediaType', () => {
    const [family = ''] = mediaType.split('/');
    return list.some((item) => item === mediaType || item === `${family}/*` || item === '*/*');
  });
}

/**
 * Returns whether a text is base64 (RFC 4648, section 4): at least one character, up to two `=` at the end, and no line
 * breaks.
 *
 * Searches for what is not allowed. A pattern for the whole text would need stack for each character in a process that
 * has compiled many regular expressions, and would throw a RangeError for a file of 6 MiB.
 */
export function isBase64(text: string): boolean {
  return withArgumentErrors('isBase64', () => {
    const end = text.endsWith('==') ? -2 : text.endsWith('=') ? -1 : text.length;
    const digits = text.slice(0, end);
    return digits !== '' && !/[^A-Za-z0-9+/]/.test(digits);
  });
}

/** Returns the content of a text file, decoded as UTF-8 with replacement characters for invalid bytes. */
export function fileText(given: Pick<FilePart, 'data'>): string {
  return withArgumentErrors('fileText', () => {
    const { data } = given;
    return new TextDecoder().decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
  });
}

/**
 * Converts a part written by an earlier version, in which images had the type `image` and other files the type
 * `document`. Any other value is returned unchanged.
 */
export function currentPart<Value>(value: Value): Value | FilePart {
  if (!isObject(value) || (value['type'] !== 'image' && value['type'] !== 'document')) return value;
  const { mediaType, data, name } = value;
  if (typeof mediaType !== 'string' || typeof data !== 'string') return value;
  return { type: 'file', mediaType, data, ...defined({ name: typeof name === 'string' ? name : undefined }) };
}

/** Returns the parts in their current form; the same array if nothing changes. */
export function currentParts(parts: readonly UserPart[]): readonly UserPart[] {
  return withArgumentErrors('currentParts', () =>
    parts.every((part) => currentPart(part) === part) ? parts : parts.map(currentPart),
  );
}

/** Returns parts as a conversation stores them: the same array if nothing changes, because providers cache by identity. */
export function partsToPlace(parts: readonly UserPart[]): readonly UserPart[] {
  for (const part of parts)
    if (part.type !== 'text' || part.text === '' || !part.text.isWellFormed())
      return wellFormedParts(currentParts(parts));
  return parts;
}
