/**
 * Reads and writes conversations of OpenAI's APIs that other programs have stored.
 *
 * @module
 */

export { chatTranscripts } from './chat/transcript.ts';
export { responsesTranscripts } from './responses/transcript.ts';
