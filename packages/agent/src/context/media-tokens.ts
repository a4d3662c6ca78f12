import type { DocumentPart, ImagePart } from '../values/message.ts';
import { pictureSize } from './image-size.ts';

/** A picture or a document. */
export type MediaPart = ImagePart | DocumentPart;

/** True for what is counted by what it shows and not by its bytes. */
export function isMedia(part: { readonly type: string }): part is MediaPart {
  return part.type === 'image' || part.type === 'document';
}

/**
 * The most tokens that a picture or document is counted as by the models in use. Where the figures come from
 * stands in docs/decisions/0015-what-a-picture-weighs.md.
 */
export function maxMediaTokens(part: MediaPart): number {
  return part.type === 'image' ? maxImageTokens(part) : maxDocumentTokens(part);
}

/** About how many tokens a picture or document takes. */
export function roughMediaTokens(part: MediaPart): number {
  if (part.type === 'image') {
    const patches = patchesOf(part);
    // Services take one token for 750 to 853 pixels.
    return patches === undefined ? 1_600 : Math.ceil(patches * 1.3);
  }
  if (isPlainText(part)) return Math.ceil(bytesIn(part) / 3);
  const pages = pagesOf(part);
  return pages === undefined ? Math.ceil(part.data.length / 16) : pages * 2_400;
}

/** Most tokens for a picture whose size cannot be read: those of twelve million pixels. */
const unreadable = 15_000;

/** Where models that take more than a token and a quarter for a patch stop. */
const defaultMaximum = 4_800;

/** Services refuse pictures of more than 8,000 pixels a side. */
const maxInAll = 90_000;

function maxImageTokens(part: ImagePart): number {
  const patches = patchesOf(part);
  if (patches === undefined) return unreadable;
  // Small ones count up to 2.46 tokens a patch, or 85 and 170 a tile; large ones 1.2 a patch, without an end.
  return Math.min(
    maxInAll,
    Math.ceil(patches * 2.5) + 260,
    Math.max(defaultMaximum, Math.ceil(patches * 1.25)),
  );
}

/** Squares of 32 pixels, by which pictures are counted. */
function patchesOf(part: ImagePart): number | undefined {
  const size = pictureSize(part.data);
  return size && Math.ceil(size.width / 32) * Math.ceil(size.height / 32);
}

/** A page costs its picture, about 1,600, and its text: a dense one 3,000. */
const maxPerPage = 5_000;

function maxDocumentTokens(part: DocumentPart): number {
  if (isPlainText(part)) return Math.ceil(bytesIn(part) / 2);
  const pages = pagesOf(part);
  // Pages that cannot be seen are small and dense, or are counted too high.
  return pages === undefined ? Math.ceil(part.data.length / 2) : pages * maxPerPage;
}

/** How many pages a PDF shows to a plain eye; a file that packs its objects away shows none. */
function pagesOf(part: DocumentPart): number | undefined {
  try {
    const pages = atob(part.data).match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length;
    return pages === undefined || pages === 0 ? undefined : pages;
  } catch {
    return undefined;
  }
}

function isPlainText({ mediaType }: DocumentPart): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** Four characters of base64 hold three bytes. */
function bytesIn({ data }: MediaPart): number {
  return Math.ceil(data.length * 0.75);
}
