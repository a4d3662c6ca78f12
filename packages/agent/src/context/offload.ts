import type { BlobReference } from '../events/event.ts';
import type { Blobs } from '../interfaces/blobs.ts';
import type { Tool, ToolOutput } from '../interfaces/tool.ts';
import { defineTool, toolOutput } from '../interfaces/tool.ts';
import type { Runtime } from '../values/runtime.ts';
import { endsOf } from '../values/truncate.ts';

/** Most bytes that one call of the reading tool gives. */
const maxRead = 32_768;

/** What one call of the reading tool gives unless told otherwise. */
const defaultRead = 16_384;

/** From which size on tool output is put away, and how much of it the model still sees. In bytes of UTF-8. */
export interface OffloadOptions {
  /** Tool output of more bytes is put away. Default 16 KiB. */
  readonly overBytes?: number;
  /** Bytes of such an output that the model still sees, half of them from its end. Default 4 KiB. */
  readonly excerptBytes?: number;
}

/** Puts long tool output away, and lets the model read it piece by piece. */
export interface Offload {
  /** Offered to the model beside the tools of the run. */
  readonly tool: Tool;
  /** Output of more bytes is put away. */
  readonly overBytes: number;
  /**
   * Puts a text away. What the model sees instead has at most about `room` bytes. Equal texts have equal ids.
   * Rejects when the blobs do.
   */
  put(text: string, room: number, digest: Runtime['digest']): Promise<OffloadedOutput>;
}

/** A text that was put away. */
export interface OffloadedOutput {
  /** Head, tail, and how to read what is between. */
  readonly excerpt: string;
  readonly blob: BlobReference;
}

/**
 * Keeps long tool output out of the conversation: the model sees its head and tail and an id by which
 * `read_blob` gives any part of it.
 */
export function offload(blobs: Blobs, options: OffloadOptions = {}): Offload {
  const { overBytes = 16_384, excerptBytes = 4_096 } = options;
  return {
    tool: readBlob(blobs),
    overBytes,
    async put(text, room, digest) {
      const bytes = new TextEncoder().encode(text);
      // Long enough that nobody finds another text with the same id, short enough to be copied without a slip.
      const id = (await digest(text)).slice(0, 24);
      await blobs.put(id, bytes);
      return {
        excerpt: excerptOf(id, bytes, Math.min(room, excerptBytes)),
        blob: { id, bytes: bytes.length },
      };
    },
  };
}

function excerptOf(id: string, bytes: Uint8Array, room: number): string {
  const words = (between: number, offset: number) =>
    `\n… ${between} bytes left out here; read_blob with ${JSON.stringify({ id, offset })} reads them …\n`;
  const { head, tail, between } = endsOf(
    bytes,
    Math.max(0, room - sizeOf(words(bytes.length, bytes.length))),
  );
  return `${head}${words(between, sizeOf(head))}${tail}`;
}

interface ReadBlobArgs {
  readonly id: string;
  readonly offset?: number;
  readonly bytes?: number;
}

function readBlob(blobs: Blobs): Tool {
  return defineTool<ReadBlobArgs>({
    name: 'read_blob',
    description:
      'Reads a part of a tool output that was too long to be shown whole. The id stands where the output was cut.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The id, as it stands in the output.' },
        offset: { type: 'integer', minimum: 0, description: 'Where to begin, in bytes. Default 0.' },
        bytes: {
          type: 'integer',
          minimum: 1,
          maximum: maxRead,
          description: `How much to read, in bytes. Default ${defaultRead}.`,
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    effect: 'read',
    subject: ({ id }) => id,
    async execute({ id, offset = 0, bytes = defaultRead }) {
      const part = await blobs.get(id, { start: offset, end: offset + Math.min(bytes, maxRead) });
      if (part === undefined) return failed(`There is no blob ${JSON.stringify(id)}: it may be gone by now.`);
      if (part.bytes.length === 0)
        return failed(`The blob has ${part.size} bytes; ${offset} is behind its end.`);
      return passage(part.bytes, offset, part.size);
    },
  });
}

/** The whole characters of a part, and where they stand. */
function passage(bytes: Uint8Array, offset: number, size: number): string {
  let first = 0;
  while (first < bytes.length && ((bytes[first] ?? 0) & 0xc0) === 0x80) first += 1;
  // What is only begun at the end is left for the next part.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(first), {
    stream: offset + bytes.length < size,
  });
  const from = offset + first;
  const to = from + sizeOf(text);
  const rest = to < size ? 'more follows' : 'the end';
  return `(bytes ${from} to ${to} of ${size}; ${rest})\n${text}`;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function failed(content: string): ToolOutput {
  return toolOutput({ content, isError: true });
}
