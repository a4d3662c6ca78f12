import type { Tables } from './schema.ts';

/**
 * Tables of the runs. They share the owners and the epochs of the sessions, and have a version of their own, so that
 * programs without a runner do not notice them.
 */
export const runTables: Tables = {
  mark: 'cobbler_runs',
  migrations: [
    `
    CREATE SEQUENCE $s.run_news;      -- raised by every change of a run or a signal
  
    CREATE TABLE $s.runs (
      number bigserial PRIMARY KEY,   -- the order of starts
      id text COLLATE "C" NOT NULL UNIQUE,
      queue text COLLATE "C",         -- runs of one queue are processed one after another
      state text NOT NULL,            -- open, done, failed, cancelled
      input text,                     -- JSON; null once the run has ended
      outcome text,                   -- JSON of the output or the error
      owner text,                     -- lock of the process that works on it
      epoch bigint NOT NULL,          -- of the one owner that may end it
      claim text NOT NULL,            -- token of the start or of the last claim
      due bigint NOT NULL,
      ended bigint
    );
    CREATE INDEX runs_queued ON $s.runs (queue, number) WHERE state = 'open';
    CREATE INDEX runs_open ON $s.runs (number) WHERE state = 'open';
    CREATE INDEX runs_ended ON $s.runs (ended) WHERE state <> 'open';
  
    CREATE TABLE $s.signals (
      run bigint NOT NULL,
      name text NOT NULL,
      text text,                      -- JSON; null if the wait for it ended first
      token text NOT NULL,            -- of the call that sent it
      PRIMARY KEY (run, name)
    );
    `,
  ],
};
