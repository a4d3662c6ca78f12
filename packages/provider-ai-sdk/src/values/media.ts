import type { DocumentPart, ImagePart } from '@cobbler/agent';

/** Types that every service with image support accepts. */
const pictures: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** Returns why a model does not accept this image or document; undefined if it does. */
export function refusedMedia({ type, mediaType }: ImagePart | DocumentPart): string | undefined {
  if (type === 'image')
    return pictures.has(mediaType) ? undefined : `images of type ${mediaType}, only JPEG, PNG, GIF and WebP`;
  return mediaType === 'application/pdf' || isText(mediaType)
    ? undefined
    : `documents of type ${mediaType}, only PDF and text`;
}

/** Text goes as text, whatever it says about itself. */
export function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** The text of a document. */
export function decodeText(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
