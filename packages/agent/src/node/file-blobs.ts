import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import type { BlobPart, Blobs } from '../interfaces/blobs.ts';
import { blobRange, checkBlobId, isBlobId } from '../interfaces/blobs.ts';
import { amount, read, record, text } from '../values/input.ts';
import { defaultAnchor, HeldDirectory, isMissing } from './held-directory.ts';
import { fileError } from './real-path.ts';

/** Limits of {@link fileBlobs}. */
export interface FileBlobsOptions {
  /** Maximum total size in bytes; when it is exceeded, the oldest blobs are deleted. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Maximum age in milliseconds; older blobs are deleted. Default seven days. */
  readonly maxAgeMs?: number;
}

const blobOptions = record<FileBlobsOptions>({ maxBytes: amount, maxAgeMs: amount });

/**
 * Stores blobs as files in one directory, created on the first `put`. They outlive the process, and several processes
 * can use them at the same time. Expired blobs are deleted on the first `put` of a process, and the oldest ones when
 * space runs out; blobs that other processes store in the meantime count toward the limit only after a restart. Only
 * the owner can read them, because tool output can contain anything.
 */
export function fileBlobs(folder: string, options: FileBlobsOptions = {}): Blobs {
  const { maxBytes = 268_435_456, maxAgeMs = 604_800_000 } = read(options, blobOptions);
  const files = new BlobFiles(read(folder, text, 'folder'), maxBytes, maxAgeMs);
  return {
    put: (id, bytes) => files.put(id, bytes),
    get: async (id, range) => {
      const { start, end } = read(range, blobRange, 'range');
      return await files.get(id, start, end);
    },
  };
}

/** Age in milliseconds after which an unfinished file of a dead process is deleted. */
const abandonedMs = 3_600_000;

const blobPrefix = 'blob-';
const partPrefix = 'part-';

/**
 * The blob files of one directory.
 *
 * Invariants: a file named `blob-<id>` is complete, because it gets that name by renaming; no other file is touched; no
 * symbolic link is followed.
 */
class BlobFiles {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxAgeMs: number;
  /** Size in bytes by id, oldest first. Undefined until the directory has been scanned. */
  #sizes: Map<string, number> | undefined;
  /** The latest write; writes run one at a time. */
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

  /** @throws AgentError `tool` for a file that exists but cannot be read. */
  async get(id: string, start: number, end: number): Promise<BlobPart | undefined> {
    if (!isBlobId(id)) return undefined;
    let held: HeldDirectory | undefined;
    try {
      held = await HeldDirectory.open(await realpath(this.#folder), defaultAnchor);
      return await readPart(held, id, start, end);
    } catch (error) {
      if (isMissing(error) || (error as NodeJS.ErrnoException | undefined)?.code === 'ELOOP')
        return undefined;
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

  /** Deletes expired files and returns the sizes of the remaining blobs. */
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

/** Updates the time of an existing blob. Returns false if it does not exist or is incomplete. */
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

/** Writes a blob atomically, even if the power fails. */
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
