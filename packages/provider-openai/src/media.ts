import type { FilePart } from '@cobbler/agent';
import { fileKind } from '@cobbler/agent/values';

/** "Please make sure your image has one of the following formats: ['png', 'jpeg', 'gif', 'webp']." */
const acceptedByOpenAI: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'text/*',
  'application/*',
];

/** The media types that a model accepts. A compatible server says itself what it does not accept. */
export function acceptedFiles(model: string, isOfficial: boolean): readonly string[] {
  if (!isOfficial) return ['*/*'];
  // Models such as gpt-audio and gpt-4o-audio-preview take recordings, as WAV or MP3.
  return /\baudio\b/.test(model) ? [...acceptedByOpenAI, 'audio/wav', 'audio/mpeg'] : acceptedByOpenAI;
}

/** The name of a recording's format in Chat Completions. */
export function audioFormat({ mediaType }: FilePart): 'mp3' | 'wav' {
  return mediaType === 'audio/mpeg' || mediaType === 'audio/mp3' ? 'mp3' : 'wav';
}

/** A file as a data URL, the form for all. */
export function dataURL({ mediaType, data }: FilePart): string {
  return `data:${mediaType};base64,${data}`;
}

/** The name of a document; the service tells the kind of file by it. */
export function fileName({ name, mediaType }: FilePart): string {
  return name ?? `document.${fileKind(mediaType) === 'pdf' ? 'pdf' : 'txt'}`;
}

/** A request may have 50 MB, of which something must be left for the rest. */
const most = 45_000_000;

/** Returns why OpenAI does not accept this file although it accepts its type; undefined if it does. */
export function refusedFile({ data }: FilePart): string | undefined {
  return data.length > most ? 'files over 45 MB of base64' : undefined;
}
