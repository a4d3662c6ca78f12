import type { FilePart } from '@cobbler/agent';
import { fileKind } from '@cobbler/agent/provider';

/** "Please make sure your image has one of the following formats: ['png', 'jpeg', 'gif', 'webp']." */
const acceptedByOpenAI: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'text/*',
  'application/*',
];

/** Returns the media types that a model accepts. A compatible server itself rejects those that it does not support. */
export function acceptedFiles(
  model: string,
  service: 'responses' | 'chat' | 'compatible',
): readonly string[] {
  if (service === 'compatible') return ['*/*'];
  // Models such as gpt-audio and gpt-4o-audio-preview accept recordings, but only over Chat Completions.
  const takesAudio = service === 'chat' && /\baudio\b/.test(model);
  return takesAudio ? [...acceptedByOpenAI, 'audio/wav', 'audio/mpeg'] : acceptedByOpenAI;
}

/** Returns the name of an audio format in Chat Completions. */
export function audioFormat({ mediaType }: FilePart): 'mp3' | 'wav' {
  return mediaType === 'audio/mpeg' || mediaType === 'audio/mp3' ? 'mp3' : 'wav';
}

/** Returns a file as a data URL. */
export function dataURL({ mediaType, data }: FilePart): string {
  return `data:${mediaType};base64,${data}`;
}

/** Returns the name of a document, from which the service determines the kind of file. */
export function fileName({ name, mediaType }: FilePart): string {
  return name ?? `document.${fileKind(mediaType) === 'pdf' ? 'pdf' : 'txt'}`;
}

/** Maximum size of a file in base64. A request is limited to 50 MB, including everything besides its files. */
const maxBase64Length = 45_000_000;

/** Returns why OpenAI rejects this file although it accepts its type; undefined if it does not. */
export function refusedFile({ data }: FilePart): string | undefined {
  return data.length > maxBase64Length ? 'files over 45 MB in base64' : undefined;
}
