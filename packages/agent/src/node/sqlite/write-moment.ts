/** Where a write stands: before it begins, before it is committed where it is a transaction, after it is done. */
export type WriteMoment = 'begin' | 'commit' | 'done';

/** Called at each moment of each write, for tests that end the process there. */
export type OnWrite = (moment: WriteMoment) => void;
