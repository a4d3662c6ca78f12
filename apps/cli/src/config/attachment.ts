import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import type { UserPart } from '@cobbler/agent';
import { UsageError } from '../terminal/usage-error.ts';

/** Services take at most 32 MB in one request, and Base64 adds a third. */
const maxBytes = 20_000_000;

/** What a file begins with, by media type; the name of a file may lie. */
const signatures: readonly (readonly [mediaType: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];

/**
 * Reads a file to attach it: text, picture or PDF, by its content. A path in the folder has to stay there: a link that
 * came with a project may lead to any file of the user, who named the link and not that file.
 * @throws UsageError when it is not there, not readable, too large or something else.
 */
export function readAttachment(path: string, folder: string): UserPart {
  return partOf(readWhole(path, folder), path);
}

/**
 * A file's or pipe's content as a part of a prompt. Text is put into a frame that names where it is from.
 * @throws UsageError when it is neither text nor picture nor PDF, or too large.
 */
export function partOf(bytes: Uint8Array, name: string): UserPart {
  if (bytes.length > maxBytes) throw tooLarge(name);
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const mediaType = signatures.find(([, pattern]) => pattern.test(head))?.[0];
  if (mediaType !== undefined) {
    const data = Buffer.from(bytes).toString('base64');
    if (mediaType.startsWith('image/')) return { type: 'image', mediaType, data };
    return { type: 'document', mediaType, data, name: basename(name) };
  }
  const text = textFrom(bytes);
  if (text === undefined) {
    throw new UsageError(
      `${name} is neither text nor a picture (PNG, JPEG, GIF, WebP) nor a PDF.`,
      'Attach a text form of it, or let the model look at it with its tools.',
    );
  }
  return {
    type: 'text',
    text: `<attachment name=${JSON.stringify(name)}>\n${text.trimEnd()}\n</attachment>`,
  };
}

/** The bytes as text; nothing for what is no text. A byte order mark decides between UTF-8 and UTF-16. */
export function textFrom(bytes: Uint8Array): string | undefined {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A text given as it is, or as `@FILE`. */
export function textOrFile(given: string, folder: string): string {
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  const text = textFrom(readWhole(path, folder));
  if (text === undefined) throw new UsageError(`${path} is not text.`, 'Give a text file after the @.');
  return text;
}

function readWhole(name: string, folder: string): Uint8Array {
  try {
    const path = resolve(folder, name);
    const real = realpathSync(path);
    if (isIn(folder, path) && !isIn(realpathSync(folder), real)) {
      throw new UsageError(
        `${name} leads out of the folder, to ${real}.`,
        'To attach that file, name it by this path.',
      );
    }
    const stat = statSync(real);
    if (stat.isDirectory()) throw new UsageError(`${name} is a folder.`, 'Give a file.');
    if (stat.size > maxBytes) throw tooLarge(name);
    return readFileSync(real);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${name} ${whyUnreadable(error)}.`,
      'Check the path; it counts from the current folder.',
    );
  }
}

function isIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Why the system would not read something, in words. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  return `cannot be read (${code || 'unknown reason'})`;
}

function tooLarge(name: string): UsageError {
  return new UsageError(
    `${name} is larger than ${maxBytes / 1_000_000} MB.`,
    'Attach the part that matters, or put it into the folder and let the model read it.',
  );
}
