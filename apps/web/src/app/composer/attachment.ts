import type { UserPart } from '@cobbler/agent';
import { size } from '../parts/format.ts';

/** Maximum size of a message in bytes of JSON; the server accepts one MiB. */
export const maxBytes = 1_000_000;

/** Larger images are scaled down first, in bytes. */
const heavyBytes = 300_000;

/** Maximum side length of an image, in pixels; models gain nothing from larger ones. */
const maxSide = 1_568;

const fileHeading = (name: string) => `File ${name}:`;

/** Returns the name of a text file that is sent as a part; for any other text, its first line. */
export function nameOf(text: string): string {
  const [heading = ''] = text.split('\n', 1);
  return /^File (.+):$/.exec(heading)?.[1] ?? heading;
}

/**
 * Reads a file as a part of a message.
 * @throws Error with a message that says what to do.
 */
export async function partOf(file: File): Promise<UserPart> {
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) return await imagePart(file);
  if (file.type === 'application/pdf') {
    return { type: 'file', mediaType: file.type, data: await base64(file), name: file.name };
  }
  if (file.size > maxBytes)
    throw new Error(`${file.name} is ${size(file.size)}; the limit is ${size(maxBytes)}.`);
  const text = await file.text();
  if (text.includes('\0')) {
    throw new Error(
      `${file.name} cannot be sent: only images (PNG, JPEG, GIF, WebP), PDF and text are supported.`,
    );
  }
  return { type: 'text', text: `${fileHeading(file.name)}\n\n${text}` };
}

async function imagePart(file: File): Promise<UserPart> {
  const { name } = file;
  if (file.size <= heavyBytes) return { type: 'file', mediaType: file.type, data: await base64(file), name };
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, maxSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(bitmap.width * scale), Math.round(bitmap.height * scale)];
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const smaller = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85));
  if (smaller === null) throw new Error(`${file.name} cannot be read as an image.`);
  return { type: 'file', mediaType: 'image/jpeg', data: await base64(smaller), name };
}

async function base64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
