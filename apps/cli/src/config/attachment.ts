import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import type { UserPart } from '@cobbler/agent';
import { sniffMediaType } from '@cobbler/agent';
import { UsageError } from '../terminal/usage-error.ts';

/** Services take at most 32 MB in one request, and Base64 adds a third. */
const maxBytes = 20_000_000;

/**
 * Reads a file to attach: text, image, PDF or audio, depending on its content. A path inside the directory must stay
 * inside it: a link in a project can point to any file of the user, who named the link and not its target.
 * @throws UsageError if it does not exist, is not readable, is too large or has another type.
 */
export function readAttachment(path: string, folder: string): UserPart {
  return partOf(readWhole(path, folder), path);
}

/**
 * Converts the content of a file or pipe to a part of a prompt. Text is framed with its source.
 * @throws UsageError if it is not text, an image, a PDF or audio, or is too large.
 */
export function partOf(bytes: Uint8Array, name: string): UserPart {
  if (bytes.length > maxBytes) throw tooLarge(name);
  const mediaType = sniffMediaType(bytes);
  if (mediaType !== undefined) {
    return { type: 'file', mediaType, data: Buffer.from(bytes).toString('base64'), name: basename(name) };
  }
  const text = textFrom(bytes);
  if (text === undefined) {
    throw new UsageError(
      `${name} is not text, an image (PNG, JPEG, GIF, WebP), a PDF or audio (WAV, MP3).`,
      'Convert it to text, or let the model read it with its tools.',
    );
  }
  return {
    type: 'text',
    text: `<attachment name=${JSON.stringify(name)}>\n${text.trimEnd()}\n</attachment>`,
  };
}

/** Returns the bytes as text; undefined if they are not text. A byte order mark selects UTF-8 or UTF-16. */
export function textFrom(bytes: Uint8Array): string | undefined {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Returns the given text, or the content of the file if it has the form `@FILE`. */
export function textOrFile(given: string, folder: string): string {
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  const text = textFrom(readWhole(path, folder));
  if (text === undefined) throw new UsageError(`${path} is not text.`, 'Name a text file after the @.');
  return text;
}

function readWhole(name: string, folder: string): Uint8Array {
  try {
    const path = resolve(folder, name);
    const real = realpathSync(path);
    if (isIn(folder, path) && !isIn(realpathSync(folder), real)) {
      throw new UsageError(
        `${name} links to ${real}, which is outside the working directory.`,
        'To attach the file anyway, pass that path.',
      );
    }
    const stat = statSync(real);
    if (stat.isDirectory()) throw new UsageError(`${name} is a directory.`, 'Pass a file.');
    if (stat.size > maxBytes) throw tooLarge(name);
    return readFileSync(real);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${name} ${readFailure(error)}.`,
      'Check the path. It is relative to the working directory.',
    );
  }
}

function isIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Describes why the system could not read a file. */
export function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be accessed';
  return `cannot be read (${code || 'unknown reason'})`;
}

function tooLarge(name: string): UsageError {
  return new UsageError(
    `${name} exceeds ${maxBytes / 1_000_000} MB.`,
    'Attach only the relevant part, or put the file in the working directory and let the model read it.',
  );
}
