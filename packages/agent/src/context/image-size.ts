/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Number of base64 characters that are searched for the size of an image; camera metadata can precede it. */
const headCharacters = 262_144;

/** Returns the size that a base64 image declares, or undefined for an unsupported format or invalid data. */
export function imageSize(data: string): ImageSize | undefined {
  const head = decoded(data.slice(0, headCharacters));
  if (head === undefined) return undefined;
  const size = pngSize(head) ?? gifSize(head) ?? webpSize(head) ?? jpegSize(head);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function decoded(base64: string): DataView | undefined {
  try {
    const text = atob(base64.slice(0, base64.length - (base64.length % 4)));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new DataView(bytes.buffer);
  } catch {
    return undefined;
  }
}

function begins(view: DataView, at: number, letters: string): boolean {
  return [...letters].every((letter, index) => view.getUint8(at + index) === letter.charCodeAt(0));
}

function pngSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || !begins(view, 1, 'PNG')) return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 10 || !begins(view, 0, 'GIF8')) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** Reads the size from a lossy, lossless or extended file; each stores it at a different offset. */
function webpSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30 || !begins(view, 0, 'RIFF') || !begins(view, 8, 'WEBP')) return undefined;
  if (begins(view, 12, 'VP8 '))
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (begins(view, 12, 'VP8L')) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!begins(view, 12, 'VP8X')) return undefined;
  const less = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  return { width: less(24) + 1, height: less(27) + 1 };
}

/** Skips the segments before the frame, which contains the size. */
function jpegSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
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
