/** Base64 images that contain only the header with their size. */

const u16 = (value: number): number[] => [value >> 8, value & 255];
const u32 = (value: number): number[] => [...u16(value >>> 16), ...u16(value & 65_535)];
const little = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, index) => (value >>> (8 * index)) & 255);
const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

function base64(bytes: readonly number[]): string {
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(''));
}

export function png(width: number, height: number): string {
  return base64([
    0x89,
    ...letters('PNG\r\n\x1a\n'),
    ...u32(13),
    ...letters('IHDR'),
    ...u32(width),
    ...u32(height),
  ]);
}

export function gif(width: number, height: number): string {
  return base64([...letters('GIF89a'), ...little(width, 2), ...little(height, 2), 0, 0]);
}

/** Returns a JPEG with a table and a note before the frame, as in photos. */
export function jpeg(width: number, height: number, noteBytes = 10): string {
  const note = [0xff, 0xe1, ...u16(noteBytes + 2), ...Array.from({ length: noteBytes }, () => 0xc0)];
  const table = [0xff, 0xc4, ...u16(6), 1, 2, 3, 4];
  const frame = [0xff, 0xc2, ...u16(11), 8, ...u16(height), ...u16(width), 1, 1, 0x11, 0];
  return base64([0xff, 0xd8, ...note, ...table, 0xff, ...frame]);
}

export function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): string {
  const head = [...letters('RIFF'), ...u32(0), ...letters('WEBP'), ...letters(kind), ...u32(0)];
  const sizes = {
    'VP8 ': [0, 0, 0, 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)],
    VP8L: [0x2f, ...little(((width - 1) | ((height - 1) << 14)) >>> 0, 4)],
    VP8X: [0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)],
  };
  return base64([...head, ...sizes[kind], ...Array.from({ length: 8 }, () => 0)]);
}
