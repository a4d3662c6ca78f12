import type { DocumentPart, ImagePart } from '@cobbler/agent';

/** An image or document as a data URL, the form for both. */
export function dataURL(part: ImagePart | DocumentPart): string {
  return `data:${part.mediaType};base64,${part.data}`;
}

/** The name of a document; the service tells the kind of file by it. */
export function fileName(part: DocumentPart): string {
  return part.name ?? `document.${part.mediaType === 'application/pdf' ? 'pdf' : 'txt'}`;
}

/** "Please make sure your image has one of the following formats: ['png', 'jpeg', 'gif', 'webp']." */
const pictures: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** A request may have 50 MB, of which something must be left for the rest. */
const most = 45_000_000;

/** Returns why OpenAI does not accept this image or document; undefined if it does. */
export function refusedMedia({ type, mediaType, data }: ImagePart | DocumentPart): string | undefined {
  if (type === 'image' && !pictures.has(mediaType))
    return `images of type ${mediaType}, only JPEG, PNG, GIF and WebP`;
  if (data.length <= most) return undefined;
  return `${type === 'image' ? 'images' : 'documents'} over 45 MB of base64`;
}
