import { assertNever } from '../values/assert-never.ts';
import { fileKind } from '../values/file-part.ts';
import type { FilePart } from '../values/message.ts';
import { imageSize } from './image-size.ts';

/** Returns whether a part is a file, whose tokens are not counted from its JSON. */
export function isFile(part: { readonly type: string }): part is FilePart {
  return part.type === 'file';
}

/**
 * Returns the maximum number of tokens that current models count for a file. The source of the figures is in
 * docs/decisions/0015-what-a-picture-weighs.md.
 */
export function maxFileTokens(file: FilePart): number {
  const kind = fileKind(file.mediaType);
  switch (kind) {
    case 'image':
      return maxImageTokens(file);
    case 'audio':
      return Math.ceil(bytesIn(file) / maxAudioDensity);
    case 'pdf':
      // A PDF without visible pages is small and dense, or is overestimated.
      return (pagesOf(file) ?? 0) * maxPerPage || Math.ceil(file.data.length / 2);
    case 'text':
      return Math.ceil(bytesIn(file) / 2);
    case 'other':
      return Math.ceil(file.data.length / 2);
    default:
      return assertNever(kind);
  }
}

/** Estimates the number of tokens of a file. */
export function roughFileTokens(file: FilePart): number {
  const kind = fileKind(file.mediaType);
  switch (kind) {
    case 'image': {
      const patches = patchesOf(file);
      // Services count one token for 750 to 853 pixels.
      return patches === undefined ? 1_600 : Math.ceil(patches * 1.3);
    }
    case 'audio':
      return Math.ceil(bytesIn(file) / 800);
    case 'pdf':
      return (pagesOf(file) ?? 0) * 2_400 || Math.ceil(file.data.length / 16);
    case 'text':
      return Math.ceil(bytesIn(file) / 3);
    case 'other':
      return Math.ceil(file.data.length / 16);
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

function maxImageTokens(file: FilePart): number {
  const patches = patchesOf(file);
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

/**
 * Returns the number of pages visible in a PDF, or undefined if there are none, for example because its objects are
 * compressed.
 */
function pagesOf(file: FilePart): number | undefined {
  try {
    const pages = atob(file.data).match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length;
    return pages === undefined || pages === 0 ? undefined : pages;
  } catch {
    return undefined;
  }
}

/** Returns the size of a file: four base64 characters encode three bytes. */
function bytesIn({ data }: FilePart): number {
  return Math.ceil(data.length * 0.75);
}
