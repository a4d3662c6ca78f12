import { assertNever } from '../values/assert-never.ts';
import { fileKind } from '../values/file-part.ts';
import type { FilePart } from '../values/message.ts';

/** Returns whether a part is a file, whose tokens are not counted from its JSON. */
export function isFile(part: { readonly type: string }): part is FilePart {
  return part.type === 'file';
}

/**
 * Returns the maximum number of tokens that current models count for a file. The source of the figures is in
 * docs/decisions/0015-images-are-counted-by-pixels-and-pdfs-by-pages.md.
 */
export function maxFileTokens(file: FilePart): number {
  return countTokens(file, {
    image: maxImageTokens,
    audio: maxAudioDensity,
    page: maxPerPage,
    text: 2,
    // A PDF without visible pages is small and dense, or is overestimated.
    other: 2,
  });
}

/** Estimates the number of tokens of a file. */
export function roughFileTokens(file: FilePart): number {
  // Services count one token for 750 to 853 pixels.
  const image = (patches: number | undefined) => (patches === undefined ? 1_600 : Math.ceil(patches * 1.3));
  return countTokens(file, { image, audio: 800, page: 2_400, text: 3, other: 16 });
}

/** The way to count the tokens of a file. */
interface Rates {
  /** Returns the tokens of an image from its number of patches, which is undefined if its size cannot be read. */
  readonly image: (patches: number | undefined) => number;
  /** Number of bytes per token of audio. */
  readonly audio: number;
  /** Number of tokens per visible page of a PDF. */
  readonly page: number;
  /** Number of bytes per token of text. */
  readonly text: number;
  /** Number of base64 characters per token of all other data. */
  readonly other: number;
}

function countTokens(file: FilePart, rates: Rates): number {
  const kind = fileKind(file.mediaType);
  const pages = kind === 'pdf' ? pagesOf(file) : 0;
  switch (kind) {
    case 'image':
      return rates.image(patchesOf(file));
    case 'audio':
    case 'text':
      return Math.ceil(bytesIn(file) / rates[kind]);
    case 'pdf':
    case 'other':
      return pages * rates.page || Math.ceil(file.data.length / rates.other);
    default:
      return assertNever(kind);
  }
}

/** Maximum number of tokens of an image whose size cannot be read: that of twelve million pixels. */
const unreadable = 15_000;

/** Maximum number of image tokens for models that count more than 1.25 tokens per patch. */
const defaultMaximum = 4_800;

/** Maximum number of tokens of any image: services reject images of more than 8,000 pixels per side. */
const maxInAll = 90_000;

function maxImageTokens(patches: number | undefined): number {
  if (patches === undefined) return unreadable;
  // Small images count up to 2.46 tokens per patch, or 85 plus 170 per tile; large ones 1.2 per patch, without a
  // maximum.
  return Math.min(
    maxInAll,
    Math.ceil(patches * 2.5) + 260,
    Math.max(defaultMaximum, Math.ceil(patches * 1.25)),
  );
}

/** Returns the number of 32-pixel squares (patches) by which an image is counted. */
function patchesOf(file: FilePart): number | undefined {
  const size = imageSize(file.data);
  return size && Math.ceil(size.width / 32) * Math.ceil(size.height / 32);
}

/** Maximum number of tokens of a page: about 1,600 for its image and 3,000 for dense text. */
const maxPerPage = 5_000;

/**
 * Minimum number of bytes of audio per token: 32 tokens per second at 16 kbit/s. Services count between 10 tokens per
 * second (one per 100 ms, OpenAI) and 32 (Gemini), and speech is rarely compressed further. At the usual 64 kbit/s
 * and 10 tokens per second, a token is 800 bytes.
 */
const maxAudioDensity = 62;

/** Returns the number of pages visible in a PDF: 0 if its objects are compressed, for example. */
function pagesOf(file: FilePart): number {
  try {
    return atob(file.data).match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  } catch {
    return 0;
  }
}

/** Returns the size of a file: four base64 characters encode three bytes. */
function bytesIn({ data }: FilePart): number {
  return Math.ceil(data.length * 0.75);
}

/** Width and height in pixels. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Number of base64 characters that are searched for the size of an image; camera metadata can precede it. */
const headCharacters = 262_144;

/** Returns the size that a base64 image declares, or undefined for an unsupported format or invalid data. */
export function imageSize(data: string): ImageSize | undefined {
  try {
    const text = atob(data.slice(0, Math.min(headCharacters, data.length - (data.length % 4))));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const size = sizeIn(text, new DataView(bytes.buffer));
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    // It is not base64, or it ends before its size.
    return undefined;
  }
}

function sizeIn(text: string, view: DataView): ImageSize | undefined {
  if (text.startsWith('PNG', 1)) return { width: view.getUint32(16), height: view.getUint32(20) };
  if (text.startsWith('GIF8')) return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return webpSize(text.slice(12, 16), view);
  return text.startsWith('\xff\xd8') ? jpegSize(view) : undefined;
}

/** Reads the size from a lossy, lossless or extended file; each stores it at a different offset. */
function webpSize(format: string, view: DataView): ImageSize | undefined {
  if (format === 'VP8 ')
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (format === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (format !== 'VP8X') return undefined;
  const less = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  return { width: less(24) + 1, height: less(27) + 1 };
}

/** Skips the segments before the frame, which contains the size. */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // Fill bytes, and markers without a segment.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Returns whether a marker starts a frame: C0 to CF, except for C4, C8 and CC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
