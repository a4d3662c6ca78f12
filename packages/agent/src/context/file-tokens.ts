import { assertNever } from '../values/assert-never.ts';
import { fileKind } from '../values/file-part.ts';
import type { FilePart } from '../values/message.ts';
import { imageSize } from './image-size.ts';

/** True for what is counted by what it shows and not by its bytes. */
export function isFile(part: { readonly type: string }): part is FilePart {
  return part.type === 'file';
}

/**
 * The most tokens that a file is counted as by the models in use. Where the figures come from stands in
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
      // Pages that cannot be seen are small and dense, or are counted too high.
      return (pagesOf(file) ?? 0) * maxPerPage || Math.ceil(file.data.length / 2);
    case 'text':
      return Math.ceil(bytesIn(file) / 2);
    case 'other':
      return Math.ceil(file.data.length / 2);
    default:
      return assertNever(kind);
  }
}

/** About how many tokens a file takes. */
export function roughFileTokens(file: FilePart): number {
  const kind = fileKind(file.mediaType);
  switch (kind) {
    case 'image': {
      const patches = patchesOf(file);
      // Services take one token for 750 to 853 pixels.
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

/** Most tokens for a picture whose size cannot be read: those of twelve million pixels. */
const unreadable = 15_000;

/** Where models that take more than a token and a quarter for a patch stop. */
const defaultMaximum = 4_800;

/** Services refuse pictures of more than 8,000 pixels a side. */
const maxInAll = 90_000;

function maxImageTokens(file: FilePart): number {
  const patches = patchesOf(file);
  if (patches === undefined) return unreadable;
  // Small ones count up to 2.46 tokens a patch, or 85 and 170 a tile; large ones 1.2 a patch, without an end.
  return Math.min(
    maxInAll,
    Math.ceil(patches * 2.5) + 260,
    Math.max(defaultMaximum, Math.ceil(patches * 1.25)),
  );
}

/** Squares of 32 pixels, by which pictures are counted. */
function patchesOf(file: FilePart): number | undefined {
  const size = imageSize(file.data);
  return size && Math.ceil(size.width / 32) * Math.ceil(size.height / 32);
}

/** A page costs its picture, about 1,600, and its text: a dense one 3,000. */
const maxPerPage = 5_000;

/**
 * Bytes of a recording that cost at least one token: 32 tokens a second at 16 kbit/s. Services count 10 (one for each 100
 * ms, OpenAI) to 32 (Gemini), and speech is rarely compressed further; the usual 64 kbit/s have 800 bytes to a token.
 */
const maxAudioDensity = 62;

/** How many pages a PDF shows to a plain eye; a file that packs its objects away shows none. */
function pagesOf(file: FilePart): number | undefined {
  try {
    const pages = atob(file.data).match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length;
    return pages === undefined || pages === 0 ? undefined : pages;
  } catch {
    return undefined;
  }
}

/** Four characters of base64 hold three bytes. */
function bytesIn({ data }: FilePart): number {
  return Math.ceil(data.length * 0.75);
}
