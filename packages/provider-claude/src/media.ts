import type { FilePart } from '@cobbler/agent';
import { fileKind } from '@cobbler/agent/provider';

/** Accepted media types. Images are those of `Base64ImageSource` of the SDK; any text type is sent as text. */
export const acceptedFiles: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/*',
  'application/json',
];

/** Maximum size of an image in base64: "image exceeds 5 MB maximum: 6278112 bytes > 5242880 bytes" (claude-code#2146). */
const maxImageBytes = 5 * 1024 * 1024;

/** Maximum size of a document in base64. A request is limited to 32 MB, including everything besides its files. */
const maxDocumentBytes = 30_000_000;

/** Returns why Claude rejects this file although it accepts its type; undefined if it does not. */
export function refusedFile({ mediaType, data }: FilePart): string | undefined {
  if (fileKind(mediaType) === 'image')
    return data.length > maxImageBytes ? 'images over 5 MB in base64' : undefined;
  return data.length > maxDocumentBytes ? 'documents over 30 MB in base64' : undefined;
}
