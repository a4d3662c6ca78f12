import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { AgentError } from '@cobbler/agent';
import type { OpenFile, Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';

/** Number of bytes that decide whether a file is text. */
export const sampleBytes = 8192;

const chunkBytes = 65_536;

/** A text file as a whole. */
export interface TextFile {
  /** Without the byte order mark. */
  readonly text: string;
  readonly hasMark: boolean;
  readonly stat: Stats;
  /** Its real path, relative to the workspace. */
  readonly name: string;
}

/** The file from where it stands, in pieces. `size` is what it probably has. */
export async function* chunksOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  // One byte more than it has, so that the end is seen without reading again.
  const length = Math.min(chunkBytes, size + 1);
  for (;;) {
    const chunk = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(chunk, 0, length, null);
    if (bytesRead > 0) yield chunk.subarray(0, bytesRead);
    if (bytesRead < length) return;
  }
}

/** All bytes of a file, or nothing when there are more than `most`: a file can grow while it is read. */
export async function bytesUpTo(file: OpenFile, most: number): Promise<Buffer | undefined> {
  const { handle, stat } = file;
  if (stat.size > most) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunksOf(handle, stat.size)) {
    length += chunk.length;
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Text holds no NUL character. (Files in UTF-16 do; they count as binary.) */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sampleBytes).includes(0);
}

/**
 * Reads a text file that is to be changed, so that what is not changed can be written back as it was.
 * @throws AgentError `tool` for a binary file, one that is not UTF-8, and one larger than `most` bytes.
 */
export async function readTextFile(workspace: Workspace, path: string, most: number): Promise<TextFile> {
  const file = await workspace.openFile(path);
  const { handle, stat, name } = file;
  try {
    const bytes = await bytesUpTo(file, most);
    if (bytes === undefined)
      throw unsuited(path, `is too large (${sizeOf(stat.size)}); the limit is ${sizeOf(most)}.`);
    if (isBinary(bytes)) throw unsuited(path, 'is a binary file.');
    if (!isUtf8(bytes)) throw unsuited(path, 'is not UTF-8 text; changing it would damage it.');
    const text = bytes.toString('utf8');
    const hasMark = text.startsWith('\uFEFF');
    return { text: hasMark ? text.slice(1) : text, hasMark, stat, name };
  } finally {
    await handle.close();
  }
}

/** A number of bytes for people. */
export function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1_048_576) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** The number of lines of a text; a line break at the end begins no new one. */
export function lineCount(text: string): number {
  if (text === '') return 0;
  let count = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** `1 line`, `2 lines`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}

/** An error that says why a file is not fit for a tool. */
export function unsuited(path: string, why: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'unsuited', message: `${quotePath(path)} ${why}` });
}
