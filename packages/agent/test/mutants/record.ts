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
    breaks: ['L5', 'P12'],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'const seq = after + offset + 1;',
    replace: 'const seq = after + 1;',
    why: 'two events share one number',
    breaks: ['L1', 'P12'],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'if (this.#failure !== undefined || this.#epoch === undefined) return;',
    replace: 'if (this.#epoch === undefined) return;',
    why: 'a store that failed is written to, and its history has a gap',
    breaks: ['L4', 'P13'],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: "if (event.type !== 'finished' || endsAnyway.has(event.status)) return event;",
    replace: 'return event;',
    why: 'a good end that was not stored counts as one',
    breaks: ['L4', 'P1'],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'const cancel = runtime.timer(storeTimeoutMs, late);',
    replace: 'const cancel = () => void late;',
    why: 'a store that never answers holds up the run for ever',
    breaks: ['P2'],
    by: 'executor: store',
  },
  {
    file: log,
    find: "if (this.#failure === undefined || event.type === 'finished') publish(accepted);",
    replace: 'publish(accepted);',
    why: 'events are shown that the store did not take',
    breaks: ['L4', 'P13'],
    by: 'test/log.test.ts',
  },
  {
    file: log,
    find: 'pending.then(resolve, reject).finally(cancel);',
    replace: 'pending.then(resolve, reject);',
    why: 'every append leaves a timer behind',
    breaks: ['P18'],
    by: 'executor: store',
  },
  {
    file: feed,
    find: 'returned.catch(() => undefined);\n      } catch {}',
    replace: 'returned.catch(() => undefined);\n      } finally {\n      }',
    why: 'a listener that throws reaches the run',
    breaks: ['P18'],
    by: 'executor: readers',
  },
  {
    file: feed,
    find: 'if (returned !== undefined && returned instanceof Promise) returned.catch(() => undefined);',
    replace: 'void returned;',
    why: 'a listener that rejects ends the process',
    breaks: ['P18'],
    by: 'test/feed.test.ts',
  },
  {
    file: feed,
    find: 'if (this.#live >= maxLiveWaiting) return;',
    replace: '',
    why: 'a reader that does not read fills the memory',
    breaks: ['P18'],
    by: 'test/feed.test.ts',
  },
  {
    file: 'src/memory-store.ts',
    find: 'if (session === undefined || epoch !== session.epoch) throw',
    replace: 'if (session === undefined) throw',
    why: 'a writer that was replaced goes on writing',
    breaks: ['P9', 'P12'],
    by: 'executor: writers',
  },
];
