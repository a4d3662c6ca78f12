import type { FilePart } from '@cobbler/agent';
import { fileKind } from '@cobbler/agent/values';

/** Images are those of `Base64ImageSource` of the SDK; text goes as text, whatever its type says. */
export const acceptedFiles: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/*',
  'application/json',
];

/** "image exceeds 5 MB maximum: 6278112 bytes > 5242880 bytes", counted as base64 (claude-code#2146). */
const maxImageBytes = 5 * 1024 * 1024;

/** A request may have 32 MB, of which something must be left for the rest. */
const maxDocumentBytes = 30_000_000;

/** Returns why Claude does not accept this file although it accepts its type; undefined if it does. */
export function refusedFile({ mediaType, data }: FilePart): string | undefined {
  if (fileKind(mediaType) === 'image')
    return data.length > maxImageBytes ? 'images over 5 MB of base64' : undefined;
  return data.length > maxDocumentBytes ? 'documents over 30 MB of base64' : undefined;
}
