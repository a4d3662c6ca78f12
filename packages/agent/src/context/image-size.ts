/** Width and height in pixels. */
export interface ImageSize {
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
