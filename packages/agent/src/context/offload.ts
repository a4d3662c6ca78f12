import type { BlobReference } from '../events/event.ts';
import type { Blobs } from '../interfaces/blobs.ts';
import type { Tool } from '../interfaces/tool.ts';
import { defineTool } from '../interfaces/tool.ts';
import type { ToolOutput } from '../interfaces/tool-output.ts';
import { toolOutput } from '../interfaces/tool-output.ts';
import { amount, read, record, withMethods } from '../values/input.ts';
import type { Runtime } from '../values/runtime.ts';
import { byteLength, endsOf } from '../values/truncate.ts';

/** Maximum number of bytes that one call to `read_blob` returns. */
const maxRead = 32_768;

/** Number of bytes that one call to `read_blob` returns by default. */
const defaultRead = 16_384;

/** Options of {@link offload}, in bytes of UTF-8. */
export interface OffloadOptions {
  /** Size above which tool output is offloaded. Default 16 KiB. */
  readonly overBytes?: number;
  /** Size of the excerpt that the model sees, half of it from the end of the output. Default 4 KiB. */
  readonly excerptBytes?: number;
}

/** Stores long tool output outside the conversation and lets the model read it in parts. */
export interface Offload {
  /** The tool that is offered to the model in addition to the tools of the run. */
  readonly tool: Tool;
  /** Size above which output is offloaded, in bytes. */
  readonly overBytes: number;
  /**
   * Stores a text. The excerpt for the model has at most about `room` bytes. Equal texts have equal ids. Rejects if
   * the blobs reject.
   */
  put(text: string, room: number, digest: Runtime['digest']): Promise<OffloadedOutput>;
}

/** An offloaded text. */
export interface OffloadedOutput {
  /** The start and the end of the text, and how to read the rest. */
  readonly excerpt: string;
  readonly blob: BlobReference;
}

/** Keeps long tool output out of the conversation: the model sees its start, its end and an id for `read_blob`. */
export function offload(blobs: Blobs, options: OffloadOptions = {}): Offload {
  const target = read(blobs, withMethods<Blobs>('put', 'get'), 'blobs');
  const { overBytes = 16_384, excerptBytes = 4_096 } = read(options, offloadOptions);
  return {
    tool: readBlob(target),
    overBytes,
    async put(text, room, digest) {
      const bytes = new TextEncoder().encode(text);
      // Long enough to prevent collisions, short enough to copy without errors.
      const id = (await digest(text)).slice(0, 24);
      await target.put(id, bytes);
      return {
        excerpt: excerptOf(id, bytes, Math.min(room, excerptBytes)),
        blob: { id, bytes: bytes.length },
      };
    },
  };
}

const offloadOptions = record<OffloadOptions>({ overBytes: amount, excerptBytes: amount });

function excerptOf(id: string, bytes: Uint8Array, room: number): string {
  const words = (between: number, offset: number) =>
    `\n… ${between} bytes omitted here; to read them, call read_blob with ${JSON.stringify({ id, offset })} …\n`;
  const { head, tail, between } = endsOf(
    bytes,
    Math.max(0, room - byteLength(words(bytes.length, bytes.length))),
  );
  return `${head}${words(between, byteLength(head))}${tail}`;
}

function readBlob(blobs: Blobs): Tool {
  return defineTool<{ readonly id: string; readonly offset?: number; readonly bytes?: number }>({
    name: 'read_blob',
    description:
      'Reads part of a tool output that was too long to show in full. The id is shown where the output was cut.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The id, as shown in the output.' },
        offset: { type: 'integer', minimum: 0, description: 'Offset of the first byte to read. Default 0.' },
        bytes: {
          type: 'integer',
          minimum: 1,
          maximum: maxRead,
          description: `Number of bytes to read. Default ${defaultRead}.`,
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    effect: 'read',
    subject: ({ id }) => id,
    async execute({ id, offset = 0, bytes = defaultRead }) {
      const part = await blobs.get(id, { start: offset, end: offset + Math.min(bytes, maxRead) });
      if (part === undefined)
        return errorOutput(`There is no blob ${JSON.stringify(id)}: it may have been deleted.`);
      if (part.bytes.length === 0)
        return errorOutput(`The blob has ${part.size} bytes; offset ${offset} is beyond its end.`);
      return passage(part.bytes, offset, part.size);
    },
  });
}

/** Returns the complete characters of a part and their position. */
function passage(bytes: Uint8Array, offset: number, size: number): string {
  let first = 0;
  while (first < bytes.length && ((bytes[first] ?? 0) & 0xc0) === 0x80) first += 1;
  // An incomplete character at the end belongs to the next part.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(first), {
    stream: offset + bytes.length < size,
  });
  const from = offset + first;
  const to = from + byteLength(text);
  const rest = to < size ? 'more follows' : 'the end';
  return `(bytes ${from} to ${to} of ${size}; ${rest})\n${text}`;
}

function errorOutput(content: string): ToolOutput {
  return toolOutput({ content, isError: true });
}
