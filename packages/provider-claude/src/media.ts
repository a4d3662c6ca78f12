import type { DocumentPart, ImagePart } from '@cobbler/agent';

/** Source: `Base64ImageSource` of the SDK. */
const pictures: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** "image exceeds 5 MB maximum: 6278112 bytes > 5242880 bytes", counted as base64 (claude-code#2146). */
const maxImageBytes = 5 * 1024 * 1024;

/** A request may have 32 MB, of which something must be left for the rest. */
const maxDocumentBytes = 30_000_000;

/** Returns why Claude does not accept this image or document; undefined if it does. */
export function refusedMedia(part: ImagePart | DocumentPart): string | undefined {
  const { type, mediaType, data } = part;
  if (type === 'image') {
    if (!pictures.has(mediaType)) return `images of type ${mediaType}, only JPEG, PNG, GIF and WebP`;
    return data.length > maxImageBytes ? 'images over 5 MB of base64' : undefined;
  }
  if (mediaType !== 'application/pdf' && !isText(mediaType))
    return `documents of type ${mediaType}, only PDF and text`;
  return data.length > maxDocumentBytes ? 'documents over 30 MB of base64' : undefined;
}

/** Text goes as text, whatever it says about itself. */
export function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}
