/**
 * Sessions as files of events, for programs that move them between stores.
 *
 * @module
 */

export { exportSession, importSession } from './session-file.ts';
