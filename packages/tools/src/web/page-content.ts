import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ToolResultPart } from '@cobbler/agent';
import { AgentError, sniffMediaType } from '@cobbler/agent';
import { htmlText } from './html-text.ts';
import { notFetched } from './url.ts';
import { maxPageBytes } from './web-fetch-options.ts';
import type { WebResponse } from './web-request.ts';

/** Maximum size of an image. Base64 has four bytes for three, and services accept images of up to 5 MB in base64. */
const maxImageBytes = 3_750_000;

const textTypes = /^text\/|^application\/([\w.-]+[+.-])?(json|xml|yaml|javascript|x?html|toml|ndjson)$/;

/** The content of a response. */
export interface PageContent {
  readonly mediaType: string;
  /** Text, or a file for the model to view. */
  readonly content: string | Extract<ToolResultPart, { readonly type: 'file' }>;
  /** False if the page is longer than what was read. */
  readonly isWhole: boolean;
}

const unzippers: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads the content of a response. @throws AgentError `tool` for a type that is neither text nor a file that models view. */
export async function readContent(
  url: URL,
  { headers, body }: WebResponse,
  signal: AbortSignal,
): Promise<PageContent> {
  const header = String(headers['content-type'] ?? '');
  const mediaType = (header.split(';')[0] ?? '').trim().toLowerCase() || 'text/plain';
  const { bytes, isWhole } = await readBytes(body, String(headers['content-encoding'] ?? ''));
  const fileType = sniffMediaType(bytes);
  if (fileType !== undefined) {
    const isTooLarge = !isWhole || (fileType !== 'application/pdf' && bytes.length > maxImageBytes);
    if (isTooLarge || fileType.startsWith('audio/'))
      throw notFetched(`${url.href} is ${isTooLarge ? 'too large' : 'audio'} (${fileType}).`);
    const content = { type: 'file', mediaType: fileType, data: bytes.toString('base64') } as const;
    return { mediaType: fileType, content, isWhole };
  }
  const isHtml = mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
  const text = textTypes.test(mediaType) ? decode(bytes, header) : '\0';
  if (text.includes('\0'))
    throw notFetched(`${url.href} is not text (${mediaType}), so web_fetch cannot show it.`);
  if (!isHtml) return { mediaType, content: text, isWhole };
  const page = await htmlText(text, url, signal);
  return { mediaType, content: page.text, isWhole: isWhole && page.isWhole };
}

/** Reads at most {@link maxPageBytes}, so that a small body cannot expand without a limit. */
async function readBytes(body: Readable, encoding: string): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const name = encoding.trim().toLowerCase();
  const unzip = unzippers[name];
  if (unzip === undefined && name !== '' && name !== 'identity') {
    body.on('error', () => {}).destroy();
    throw notFetched(`The response has an unknown content encoding: ${JSON.stringify(encoding)}.`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unzip === undefined ? body : pipeline(body, unzip(), () => {})) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxPageBytes) break;
    }
  } catch (error) {
    throw notFetched(`The response ended early: ${AgentError.from(error, 'tool').message}`);
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxPageBytes), isWhole: size <= maxPageBytes };
}

const marks = { '\xef\xbb\xbf': 'utf-8', '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' };

/** Decodes text as its byte order mark, its header or its first tags say, otherwise as UTF-8. */
function decode(bytes: Buffer, header: string): string {
  const head = bytes.toString('latin1', 0, 1024);
  const [, named = 'utf-8'] =
    /charset\s*=\s*["']?([\w.:-]+)/i.exec(header) ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(head) ??
    [];
  const byMark = Object.entries(marks).find(([mark]) => head.startsWith(mark))?.[1];
  try {
    return new TextDecoder(byMark ?? named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
