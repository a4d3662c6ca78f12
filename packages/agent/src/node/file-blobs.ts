import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import type { BlobPart, Blobs } from '../interfaces/blobs.ts';
import { checkBlobId, isBlobId } from '../interfaces/blobs.ts';
import { defaultAnchor, HeldDirectory, isMissing } from './held-directory.ts';
import { fileError } from './real-path.ts';

/** How much `fileBlobs` holds, and for how long. */
export interface FileBlobsOptions {
  /** Most bytes kept; beyond that what was put longest ago is given up. Default 256 MiB. */
  readonly maxBytes?: number;
  /** What was put longer ago, in milliseconds, is given up. Default seven days. */
  readonly maxAgeMs?: number;
}

/**
 * Blobs in files of one folder, which is made when the first is put. They outlive the process and may be used by
 * several at once. Old ones are given up when a process puts its first, and when there is no more room; what other
 * processes put meanwhile counts from the next start on. Only the owner may read them: tool output may hold anything.
 */
export function fileBlobs(folder: string, options: FileBlobsOptions = {}): Blobs {
  const { maxBytes = 268_435_456, maxAgeMs = 604_800_000 } = options;
  const files = new BlobFiles(folder, maxBytes, maxAgeMs);
  return {
    put: (id, bytes) => files.put(id, bytes),
    get: (id, { start, end }) => files.get(id, start, end),
  };
}

/** What is only being written; the rest of a process that died is removed after this many milliseconds. */
const abandonedMs = 3_600_000;

const blobPrefix = 'blob-';
const partPrefix = 'part-';

/**
 * The files of one folder.
 *
 * Invariants: a file named `blob-<id>` is whole, because it was renamed to that when it was; no other name is
 * touched; no link is followed.
 */
class BlobFiles {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxAgeMs: number;
  /** Bytes by id, what was put longest ago first. Absent until the folder has been looked at. */
  #sizes: Map<string, number> | undefined;
  /** One thing is put at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(folder: string, maxBytes: number, maxAgeMs: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#maxAgeMs = maxAgeMs;
  }

  put(id: string, bytes: Uint8Array): Promise<void> {
    const putting = this.#last.then(() => this.#put(id, bytes));
    this.#last = putting.catch(() => undefined);
    return putting;
  }

  /** @throws AgentError `tool` for a file that is there and cannot be read. */
  async get(id: string, start: number, end: number): Promise<BlobPart | undefined> {
    if (!isBlobId(id)) return undefined;
    let held: HeldDirectory | undefined;
    try {
      held = await HeldDirectory.open(await realpath(this.#folder), defaultAnchor);
      return await readPart(held, id, start, end);
    } catch (error) {
      if (isNothing(error)) return undefined;
      throw fileError(error, `blob ${id}`);
    } finally {
      await held?.close();
    }
  }

  async #put(id: string, bytes: Uint8Array): Promise<void> {
    checkBlobId(id);
    let held: HeldDirectory | undefined;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      held = await HeldDirectory.open(await realpath(this.#folder), defaultAnchor);
      this.#sizes ??= await this.#look(held);
      if (!(await renew(held, id, bytes.length))) await write(held, id, bytes);
      this.#sizes.delete(id);
      this.#sizes.set(id, bytes.length);
      await this.#makeRoom(held, this.#sizes, id);
    } catch (error) {
      throw fileError(error, `blob ${id}`);
    } finally {
      await held?.close();
    }
  }

  /** What is there, without what is too old. */
  async #look(held: HeldDirectory): Promise<Map<string, number>> {
    const found: { readonly id: string; readonly size: number; readonly at: number }[] = [];
    for (const { name } of await held.entries()) {
      const isBlob = name.startsWith(blobPrefix) && isBlobId(name.slice(blobPrefix.length));
      const stat = isBlob || name.startsWith(partPrefix) ? await held.stat(name) : undefined;
      if (stat === undefined || !stat.isFile()) continue;
      const isOver = Date.now() - stat.mtimeMs > (isBlob ? this.#maxAgeMs : abandonedMs);
      if (isOver) await held.remove(name);
      else if (isBlob) found.push({ id: name.slice(blobPrefix.length), size: stat.size, at: stat.mtimeMs });
    }
    found.sort((left, right) => left.at - right.at);
    return new Map(found.map(({ id, size }) => [id, size]));
  }

  async #makeRoom(held: HeldDirectory, sizes: Map<string, number>, newest: string): Promise<void> {
    let total = 0;
    for (const size of sizes.values()) total += size;
    for (const [id, size] of sizes) {
      if (total <= this.#maxBytes || id === newest) return;
      await held.remove(blobPrefix + id);
      sizes.delete(id);
      total -= size;
    }
  }
}

/** Marks a blob that is there as put just now. False: it is not there, or not whole. */
async function renew(held: HeldDirectory, id: string, size: number): Promise<boolean> {
  const stat = await held.stat(blobPrefix + id);
  if (stat === undefined || !stat.isFile() || stat.size !== size) return false;
  const handle = await held.file(blobPrefix + id);
  try {
    const now = new Date();
    await handle.utimes(now, now);
    return true;
  } finally {
    await handle.close();
  }
}

/** A blob appears as a whole or not at all, also when the power fails. */
async function write(held: HeldDirectory, id: string, bytes: Uint8Array): Promise<void> {
  const part = `${partPrefix}${randomUUID()}`;
  try {
    const handle = await held.create(part, 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await held.replace(part, blobPrefix + id);
  } catch (error) {
    await held.remove(part).catch(() => undefined);
    throw error;
  }
}

async function readPart(
  held: HeldDirectory,
  id: string,
  start: number,
  end: number,
): Promise<BlobPart | undefined> {
  const handle = await held.file(blobPrefix + id);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    const bytes = new Uint8Array(Math.max(0, Math.min(end, stat.size) - start));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return { bytes: bytes.subarray(0, filled), size: stat.size };
  } finally {
    await handle.close();
  }
}

/** Nothing stands there, or a link, which is no blob. */
function isNothing(error: unknown): boolean {
  return isMissing(error) || (error as NodeJS.ErrnoException | undefined)?.code === 'ELOOP';
}
