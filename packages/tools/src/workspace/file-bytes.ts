import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { PlannedChange } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { OpenFile, Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';

/** Number of bytes checked to decide whether a file is text. */
export const sampleBytes = 8192;

const chunkBytes = 65_536;

/** A complete text file. */
export interface TextFile {
  /** The text without the byte order mark. */
  readonly text: string;
  readonly hasMark: boolean;
  /** Stats of the file; undefined if the text is what an earlier call would write. */
  readonly stat: Stats | undefined;
  /** The real path, relative to the workspace. */
  readonly name: string;
}

/**
 * Reads a file in chunks from its current position.
 * @param size the expected size of the file
 */
export async function* chunksOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  // One byte more than the expected size, so that the end is detected without another read.
  const length = Math.min(chunkBytes, size + 1);
  for (;;) {
    const chunk = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(chunk, 0, length, null);
    if (bytesRead > 0) yield chunk.subarray(0, bytesRead);
    if (bytesRead < length) return;
  }
}

/** Reads all bytes of a file. Returns undefined if there are more than `limit`, because a file can grow while it is read. */
export async function bytesUpTo(file: OpenFile, limit: number): Promise<Buffer | undefined> {
  const { handle, stat } = file;
  if (stat.size > limit) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunksOf(handle, stat.size)) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns true if the bytes contain a NUL character. (UTF-16 files do, so they count as binary.) */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sampleBytes).includes(0);
}

/**
 * Reads a text file for a change, so that unchanged parts can be written back as they were.
 * @param earlier changes that are assumed to be made already.
 * @throws AgentError `tool` if the file is binary, is not UTF-8, or is larger than `limit` bytes.
 */
export async function readTextFile(
  workspace: Workspace,
  path: string,
  limit: number,
  earlier: readonly PlannedChange[] = [],
): Promise<TextFile> {
  const subject = workspace.subject(path);
  const planned = earlier.findLast(({ target }) => target === subject)?.after;
  if (planned !== undefined) return { ...withoutMark(planned), stat: undefined, name: subject };
  const file = await workspace.openFile(path);
  const { handle, stat, name } = file;
  try {
    const bytes = await bytesUpTo(file, limit);
    if (bytes === undefined)
      throw unsuitableFile(path, `is too large (${sizeOf(stat.size)}); the limit is ${sizeOf(limit)}.`);
    if (isBinary(bytes)) throw unsuitableFile(path, 'is a binary file.');
    if (!isUtf8(bytes)) throw unsuitableFile(path, 'is not UTF-8 text; editing it as text would corrupt it.');
    return { ...withoutMark(bytes.toString('utf8')), stat, name };
  } finally {
    await handle.close();
  }
}

function withoutMark(text: string): Pick<TextFile, 'text' | 'hasMark'> {
  const hasMark = text.startsWith('\uFEFF');
  return { text: hasMark ? text.slice(1) : text, hasMark };
}

/** Returns the content of a file as it is stored. */
export function contentOf({ text, hasMark }: Pick<TextFile, 'text' | 'hasMark'>): string {
  return (hasMark ? '\uFEFF' : '') + text;
}

/** Formats a number of bytes. */
export function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1_048_576) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** Returns the number of lines of a text; a line break at the end does not start another line. */
export function lineCount(text: string): number {
  if (text === '') return 0;
  let count = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Formats a number with its noun: `1 line`, `2 lines`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}

/** Creates an error that explains why a file is not suitable for a tool. */
export function unsuitableFile(path: string, why: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'unsuited', message: `${quotePath(path)} ${why}` });
}
