/** Moment of a write: before it starts, before a transaction is committed, and after it is done. */
export type WriteMoment = 'begin' | 'commit' | 'done';

/** Called at each moment of each write, for tests that end the process there. */
export type OnWrite = (moment: WriteMoment) => void;
