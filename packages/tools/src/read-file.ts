import { basename } from 'node:path';
import type { Tool, ToolOutput } from '@cobbler/agent';
import { AgentError, sniffMediaType, toolOutput } from '@cobbler/agent';
import type { OpenFile, Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import {
  bytesUpTo,
  chunksOf,
  counted,
  isBinary,
  sampleBytes,
  sizeOf,
  unsuitableFile,
} from './workspace/file-bytes.ts';
import { fileTool, throwIfStopped } from './workspace/file-tool.ts';
import { LineWindow } from './workspace/line-window.ts';
import { suggestNames } from './workspace/similar-names.ts';

/** Arguments of read_file. */
export interface ReadFileArgs {
  /** Path relative to the workspace. */
  readonly path: string;
  /** First line to read, starting at 1. */
  readonly offset?: number;
  /** Maximum number of lines. Default 2,000. */
  readonly limit?: number;
  /** True to prefix each line with its number and a tab. */
  readonly line_numbers?: boolean;
}

const defaultLines = 2000;
/** Maximum size of the text. With line numbers and the note at the end, it stays below the maximum size of a tool result. */
const maxTextBytes = 200_000;
/** Maximum size of an image. Base64 has four bytes for three, and services accept images of up to 5 MB in base64. */
const maxImageBytes = 3_750_000;
const maxDocumentBytes = 20_000_000;
/** Maximum number of bytes of a file in which lines are counted. */
const maxCountedBytes = 67_108_864;

/** Reads text by lines, and returns images and PDFs as files for the model to view. */
export function readFile(workspace: Workspace): Tool {
  return fileTool<ReadFileArgs>(workspace, {
    name: 'read_file',
    description:
      'Reads a text file, an image (PNG, JPEG, GIF, WebP) or a PDF in the workspace. Returns at most ' +
      `${defaultLines} lines of text unless limit is set. To read the rest of a long file, use offset.`,
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
        offset: {
          type: 'integer',
          minimum: 1,
          description: 'First line to read, counted from 1. Default 1.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          description: `Maximum number of lines. Default ${defaultLines}.`,
        },
        line_numbers: {
          type: 'boolean',
          description: 'Prefix each line with its number and a tab. Default false.',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    effect: 'read',
    pathOf: ({ path }) => path,
    subject: ({ path }) => workspace.subject(path),
    async execute(args, { signal }) {
      const file = await openAny(workspace, args.path);
      try {
        return await contentOf(file, args, signal);
      } finally {
        await file.handle.close();
      }
    },
  });
}

async function openAny(workspace: Workspace, path: string): Promise<OpenFile> {
  try {
    return await suggestNames(workspace, path, () => workspace.openFile(path));
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'is_directory') throw error;
    throw unsuitableFile(path, 'is a directory. list_files shows its contents.');
  }
}

async function contentOf(file: OpenFile, args: ReadFileArgs, signal: AbortSignal): Promise<ToolOutput> {
  const { handle, stat } = file;
  const sample = Buffer.alloc(sampleBytes);
  const { bytesRead } = await handle.read(sample, 0, sampleBytes, 0);
  const head = sample.subarray(0, bytesRead);
  const mediaType = sniffMediaType(head);
  if (mediaType !== undefined) return await mediaOf(file, args.path, mediaType);
  if (isBinary(head))
    throw unsuitableFile(args.path, `is a binary file (${sizeOf(stat.size)}) and cannot be shown as text.`);
  return await linesOf(file, args, signal);
}

async function mediaOf(file: OpenFile, path: string, mediaType: string): Promise<ToolOutput> {
  const { stat, name } = file;
  const isImage = mediaType.startsWith('image/');
  const limit = isImage ? maxImageBytes : maxDocumentBytes;
  const bytes = await bytesUpTo(file, limit);
  if (bytes === undefined) {
    throw unsuitableFile(
      path,
      `is too large to show (${mediaType}, ${sizeOf(stat.size)}); the limit is ${sizeOf(limit)}.`,
    );
  }
  const data = bytes.toString('base64');
  const summary = `${mediaType}, ${sizeOf(bytes.length)}`;
  return toolOutput({
    content: [
      { type: 'text', text: `${quotePath(path)}: ${summary}.` },
      { type: 'file', mediaType, data, name: basename(name) },
    ],
    summary,
  });
}

async function linesOf(
  { handle, stat }: OpenFile,
  args: ReadFileArgs,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const first = args.offset ?? 1;
  const window = new LineWindow(first, args.limit ?? defaultLines, maxTextBytes);
  let seen = 0;
  for await (const chunk of chunksOf(handle, stat.size)) {
    throwIfStopped(signal);
    window.push(chunk);
    seen += chunk.length;
    if (window.isDone && seen >= maxCountedBytes) break;
  }
  const isWhole = seen >= stat.size;
  if (isWhole) window.finish();
  if (seen === 0) return toolOutput({ content: '(the file is empty)', summary: 'empty' });
  const total = `${isWhole ? '' : 'more than '}${counted(window.lines, 'line')}`;
  if (window.lastTaken < first)
    throw unsuitableFile(args.path, `has only ${total}; offset ${first} is past the end.`);
  const text = args.line_numbers === true ? withLineNumbers(window.text(), first) : window.text();
  const isAll = first === 1 && isWhole && window.lastTaken === window.lines;
  if (isAll && window.cutBytes === 0) return toolOutput({ content: text, summary: total });
  const shown = first === window.lastTaken ? `line ${first}` : `lines ${first} to ${window.lastTaken}`;
  const cut = window.cutBytes > 0 ? `; line ${first} is cut off, ${sizeOf(window.cutBytes)} omitted` : '';
  const more =
    isWhole && window.lastTaken === window.lines ? '' : `; to read more, use offset ${window.lastTaken + 1}`;
  const gap = text.endsWith('\n') ? '' : '\n';
  return toolOutput({
    content: `${text}${gap}[${shown} of ${total}${cut}${more}]`,
    summary: `${shown} of ${total}`,
  });
}

function withLineNumbers(text: string, first: number): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => `${first + index}\t${line}\n`).join('');
}
