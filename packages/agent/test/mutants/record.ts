import type { Mutant } from './mutant.ts';

const log = 'src/log.ts';
const feed = 'src/feed.ts';

/** Mistakes in what is recorded of a run and in who gets to see it. */
export const recordMutants: readonly Mutant[] = [
  {
    file: log,
    find: 'if (this.#closed) return false;',
    replace: '',
    why: 'events are written after the end',
    promises: [12],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'const seq = after + offset + 1;',
    replace: 'const seq = after + 1;',
    why: 'two events share one number',
    promises: [12],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'if (this.#failure !== undefined || this.#epoch === undefined) return;',
    replace: 'if (this.#epoch === undefined) return;',
    why: 'a store that failed is written to, and its history has a gap',
    promises: [12],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: "if (event.type !== 'finished' || endsAnyway.has(event.status)) return event;",
    replace: 'return event;',
    why: 'a good end that was not stored counts as one',
    promises: [1],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'const cancel = runtime.timer(storeTimeoutMs, late);',
    replace: 'const cancel = () => void late;',
    why: 'a store that never answers holds up the run for ever',
    promises: [2],
    by: 'executor: store',
  },
  {
    file: log,
    find: "if (this.#failure === undefined || event.type === 'finished') publish(accepted);",
    replace: 'publish(accepted);',
    why: 'events are shown that the store did not take',
    promises: [12],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'pending.then(resolve, reject).finally(cancel);',
    replace: 'pending.then(resolve, reject);',
    why: 'every append leaves a timer behind',
    promises: [18],
    by: 'executor: store',
  },
  {
    file: feed,
    find: 'if (returned instanceof Promise) returned.catch(() => undefined);\n  } catch {}',
    replace: 'if (returned instanceof Promise) returned.catch(() => undefined);\n  } finally {\n  }',
    why: 'a listener that throws reaches the run',
    promises: [18],
    by: 'executor: events',
  },
  {
    file: feed,
    find: 'if (returned instanceof Promise) returned.catch(() => undefined);',
    replace: 'void returned;',
    why: 'a listener that rejects ends the process',
    promises: [18],
    by: 'executor: events',
  },
  {
    file: feed,
    find: 'if (this.#live >= maxLiveWaiting) return;',
    replace: '',
    why: 'a reader that does not read fills the memory',
    promises: [18],
    by: 'test/feed.test.ts',
  },
  {
    file: 'src/store.ts',
    find: 'if (epoch !== session.epoch) throw fenced(sessionId);',
    replace: '',
    why: 'a writer that was replaced goes on writing',
    promises: [9, 12],
    by: 'executor: writers',
  },
];
