import type { DocumentPart, ImagePart } from '@cobbler/agent';

/** A picture or document as the data URL in which OpenAI takes both. */
export function dataURL(part: ImagePart | DocumentPart): string {
  return `data:${part.mediaType};base64,${part.data}`;
}

/** The name of a document; the service tells the kind of file by it. */
export function fileName(part: DocumentPart): string {
  return part.name ?? `document.${part.mediaType === 'application/pdf' ? 'pdf' : 'txt'}`;
}
