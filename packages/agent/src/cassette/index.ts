/**
 * Records a run in a cassette and replays it byte for byte.
 *
 * @module
 */

export { type Player, type PlayerOptions, player } from './player.ts';
export { type RecorderOptions, recorder } from './recorder.ts';
export type { Recording, RecordingControl } from './recording.ts';
