import type { Mutant } from './mutant.ts';

const groupCommit = 'src/node/sqlite/group-commit.ts';
const sessionLog = 'src/node/sqlite/session-log.ts';
const databaseFile = 'src/node/sqlite/database-file.ts';

/** Mistakes in keeping sessions. */
export const keepingMutants: readonly Mutant[] = [
  {
    file: groupCommit,
    find: 'for (const job of jobs) told.push(outcome(job));',
    replace: 'for (const job of jobs) outcome(job)();',
    why: 'an append counts as done before it is committed',
    breaks: ['P13'],
    by: 'test/sqlite-group-commit.test.ts',
  },
  {
    file: groupCommit,
    find: 'this.#prepare(jobs.some(({ durable }) => durable));',
    replace: 'this.#prepare(false);',
    why: 'a power cut can take the start of a tool that must not run twice',
    breaks: ['P9'],
    by: 'test/sqlite-group-commit.test.ts',
  },
  {
    file: groupCommit,
    find: 'if (this.#isScheduled) return this.add(run, durable);',
    replace: '',
    why: 'what comes later is written before what waits',
    breaks: ['P13'],
    by: 'test/sqlite-group-commit.test.ts',
  },
  {
    file: groupCommit,
    find: '    } catch (error) {\n      this.#rollBack();\n      throw AgentError.is(error)',
    replace: '    } catch (error) {\n      throw AgentError.is(error)',
    why: 'an append that failed at once stays half done, and holds up every other',
    breaks: ['P13'],
    by: 'test/sqlite-group-commit.test.ts',
  },
  {
    file: sessionLog,
    find: 'if (standing?.epoch !== writer.epoch) throw fenced(sessionId);',
    replace: 'if (standing === undefined) throw fenced(sessionId);',
    why: 'a run that was taken over goes on writing',
    breaks: ['P13'],
    by: 'test/sqlite-store-owners.test.ts',
  },
  {
    file: sessionLog,
    find: 'for (const row of latest) if (row.seq > last && rows.length !== limit) rows.push(row);',
    replace: '',
    why: 'the latest events are not read',
    breaks: ['P13'],
    by: 'test/sqlite-places.test.ts',
  },
  {
    file: sessionLog,
    find: 'this.#sql.run(noteLess);',
    replace: '',
    why: 'events that take the places of deleted ones are lost to readers',
    breaks: ['P13'],
    by: 'test/sqlite-places.test.ts',
  },
  {
    file: databaseFile,
    find: 'checkNotLost(file, kind);\n    onWrite',
    replace: 'onWrite',
    why: 'a file that was lost counts as a new store',
    breaks: ['P13'],
    by: 'test/sqlite-store-file.test.ts',
  },
  {
    file: databaseFile,
    find: 'if (!isBusy(error) || performance.now() >= deadline) throw error;',
    replace: 'throw error;',
    why: 'processes that open a new store together refuse each other',
    breaks: [],
    by: 'test/sqlite-store-owners.test.ts',
  },
  {
    file: 'src/node/sqlite/owner.ts',
    find: 'return path !== undefined && existsSync(path) && !isFree(path, () => {});',
    replace: 'return false;',
    why: 'the session of a process that is alive counts as interrupted',
    breaks: [],
    by: 'test/sqlite-store-owners.test.ts',
  },
];
