/**
 * Reads and writes conversations of the Messages API that other programs have stored.
 *
 * @module
 */

export { claudeTranscripts } from './transcript.ts';
