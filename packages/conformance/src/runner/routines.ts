import type { ErrorData, Json, JsonObject } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import type { Routine, StepCall, Steps } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';
import type { Counter } from './environment.ts';

/** The input and functions of a contract routine. */
export interface RoutineContext {
  readonly input: JsonObject;
  readonly steps: Steps;
  /** Adds a line to a mark of this run. Returns the number of its lines. */
  note(mark: string, text?: string): Promise<number>;
  /** Resolves when the mark of this run has a line. */
  reached(mark: string): Promise<void>;
  /** Adds a line to a mark that runs share. Returns the number of its lines. */
  noteShared(mark: string, text: string): Promise<number>;
}

/** Returns the routine that an environment deploys. Its input names one of {@link contractRoutines}. */
export function contractRoutine(counter: Counter): Routine {
  return (input, steps) => {
    const given = isObject(input) ? (input as JsonObject) : {};
    const routine = contractRoutines[String(given['routine'])];
    if (routine === undefined) throw new Error(`There is no routine ${JSON.stringify(given['routine'])}.`);
    return routine({
      input: given,
      steps,
      note: (mark, text = '') => counter.add(markOf(steps.runId, mark), text),
      reached: (mark) => counter.reached(markOf(steps.runId, mark)),
      noteShared: (mark, text) => counter.add(mark, text),
    });
  };
}

/** Returns the counter name of a run's mark. */
export function markOf(runId: string, mark: string): string {
  return `${runId}/${mark}`;
}

/**
 * The contract routines by name, so that runners in other processes or engines can use them too. They write
 * `recorded` when a step is known to have its result, and write it again when the run resumes.
 */
export const contractRoutines: Readonly<Record<string, (means: RoutineContext) => Promise<Json>>> = {
  /** One step that returns the input value. */
  async echo({ input, steps, note }) {
    const { value, replayed } = await steps.run('echo', async () => {
      await note('echo');
      return input['value'] ?? null;
    });
    return { value, replayed };
  },

  /** `count` steps. After the one numbered `waitAfter` it waits for the signal `go`. */
  async steps({ input, steps, note }) {
    const replayed: boolean[] = [];
    let sum = 0;
    for (let at = 0; at < Number(input['count']); at += 1) {
      const result = await steps.run(`s${at}`, async ({ idempotencyKey }) => {
        await note(`s${at}`, idempotencyKey);
        return at;
      });
      sum += result.value;
      replayed.push(result.replayed);
      if (at !== input['waitAfter']) continue;
      await note('recorded');
      await steps.waitFor('go');
    }
    return { sum, replayed };
  },

  /** Uses the name `a` twice, then continues. */
  async names({ input, steps }) {
    const found: Json[] = [];
    await steps.run('a', () => 1);
    const second = String(input['second'] ?? 'a');
    const ways: Record<string, () => Promise<unknown>> = {
      run: () => steps.run(second, () => 2),
      sleep: () => steps.sleep(second, 1),
      waitFor: () => steps.waitFor(second, { timeoutMs: 1 }),
    };
    for (const way of Object.values(ways)) found.push(await errorOf(way));
    const { value } = await steps.run('b', () => 'continued');
    return { found, value };
  },

  /**
   * A step that fails its first `failures` attempts with `error`. Then it waits for `go` if `wait` is true.
   */
  async failing({ input, steps, note }) {
    const { retry, timeoutMs } = input as unknown as {
      readonly retry?: { readonly retries: number; readonly firstMs: number };
      readonly timeoutMs?: number;
    };
    const failed = await errorOf(() =>
      steps.run(
        'failing',
        async ({ attempt, idempotencyKey }) => {
          const count = await note('attempt', `${attempt} ${idempotencyKey}`);
          if (count <= Number(input['failures'])) throw thrownOf(input['error']);
          return 'mended';
        },
        { ...(retry && { retry }), ...defined({ timeoutMs }) },
      ),
    );
    await note('recorded');
    if (input['wait'] === true) await steps.waitFor('go');
    if (input['rethrow'] === true && failed !== null) throw new AgentError(failed as unknown as ErrorData);
    return failed;
  },

  /** Steps with results that JSON cannot represent. Returns the error of each. */
  async odd({ steps }) {
    const found: JsonObject = {};
    for (const [name, value] of Object.entries(oddValues()))
      found[name] = await errorOf(() => steps.run(name, () => value as Json));
    return found;
  },

  /** A step whose result is `text` repeated `count` times. */
  async large({ input, steps }) {
    let length = 0;
    const error = await errorOf(async () => {
      const text = String(input['text']).repeat(Number(input['count']));
      length = (await steps.run('large', () => text)).value.length;
    });
    return { length, error };
  },

  /** Changes the result of a step. */
  async changing({ steps }) {
    const list = ['a'];
    const { value } = await steps.run('list', () => list);
    list.push('b');
    value.push('c');
    const { value: later } = await steps.run('later', () => value.length);
    return { list: value, later };
  },

  /** A step, a sleep of `ms`, a step. */
  async sleeper({ input, steps, note }) {
    await steps.run('before', () => note('before'));
    await note('recorded');
    await steps.sleep('pause', Number(input['ms'] ?? 0));
    await steps.run('after', () => note('after'));
    return 'awake';
  },

  /** Sleeps with invalid durations. Returns the error of each. */
  async badDurations({ steps }) {
    const found: Json[] = [];
    for (const [at, ms] of [Number.NaN, -1, Number.POSITIVE_INFINITY].entries())
      found.push(await errorOf(() => steps.sleep(`bad${at}`, ms)));
    return found;
  },

  /**
   * A step, then a wait for each signal in `names`, then a step. Returns the values received, or their
   * lengths if `measure` is true.
   */
  async waiter({ input, steps, note }) {
    await steps.run('before', () => note('before'));
    await note('recorded');
    const { timeoutMs, names = ['go'] } = input as { readonly timeoutMs?: number; readonly names?: string[] };
    const came: Json[] = [];
    for (const name of names) {
      const value = await steps.waitFor(name, timeoutMs === undefined ? {} : { timeoutMs });
      const { length } = String(value);
      came.push(value === undefined ? 'timed out' : { value: input['measure'] === true ? length : value });
    }
    await steps.run('after', () => note('after'));
    return came;
  },

  /** A step that ends when it is stopped, or with `isDeaf` when `release` has a line. */
  async hanging({ input, steps, note, reached }) {
    const { timeoutMs, retry, isDeaf } = input as unknown as {
      readonly timeoutMs?: number;
      readonly retry?: { readonly retries: number; readonly firstMs: number };
      readonly isDeaf?: boolean;
    };
    const perform = async (call: StepCall) => {
      await note('in', call.idempotencyKey);
      if (isDeaf) await reached('release');
      else await stopped(call.signal);
      await note('out', call.signal.aborted ? 'stopped' : 'not stopped');
      return 'late';
    };
    const settings = { ...defined({ timeoutMs }), ...(retry && { retry }) };
    const error = await errorOf(() => steps.run('hanging', perform, settings));
    await steps.run('after', () => note('after')).catch((thrown) => note('refused', kindOf(thrown)));
    return error;
  },

  /** Waits outside of any step until the run is stopped. */
  async between({ steps, note }) {
    await steps.run('before', () => note('before'));
    await note('recorded');
    await stopped(steps.signal);
    await note('stopped');
    return null;
  },

  /**
   * `count` parallel steps. None ends before all have started; with `hold` the first also waits for
   * `release`.
   */
  async parallel({ input, steps, note, reached }) {
    const places = Array.from({ length: Number(input['count']) }, (_, at) => at);
    const done = places.map((at) =>
      steps.run(`p${at}`, async () => {
        await note(`p${at}`);
        for (const other of places) await reached(`p${other}`);
        if (input['hold'] === true && at === 0) await reached('release');
        return at;
      }),
    );
    return (await Promise.all(done)).map(({ value }) => value);
  },

  /** A routine that throws. */
  async throwing({ input }) {
    throw thrownOf(input['error']);
  },

  /** A routine whose output cannot be stored. */
  async oddOutput({ input }) {
    if (input['size'] !== undefined) return 'x'.repeat(Number(input['size']));
    return new Map() as unknown as Json;
  },

  /** Starts a step after its run has ended. */
  async afterlife({ steps, note, reached }) {
    reached('over')
      .then(() => steps.run('late', () => note('ran')))
      .catch((thrown) => note('refused', kindOf(thrown)));
    return 'over';
  },

  /**
   * Writes a line to a shared mark at its start and at its end. In between it waits for `go` if `wait` is
   * true.
   */
  async turn({ input, steps, noteShared }) {
    const name = String(input['name']);
    await steps.run('begin', () => noteShared(String(input['mark']), `+${name}`));
    if (input['wait'] === true) await steps.waitFor('go');
    await steps.run('end', () => noteShared(String(input['mark']), `-${name}`));
    if (input['fails'] === true) throw new Error('failed on purpose');
    return name;
  },
};

/** Returns the thrown error as data, or null if there was none. */
async function errorOf(work: () => Promise<unknown>): Promise<Json> {
  try {
    await work();
    return null;
  } catch (thrown) {
    if (!AgentError.is(thrown)) return { kind: 'not an AgentError', message: String(thrown) };
    const { kind, code = null, message } = thrown;
    return { kind, code, message };
  }
}

function kindOf(thrown: unknown): string {
  return AgentError.is(thrown) ? thrown.kind : String(thrown);
}

/** A string becomes the message of an ordinary error. */
function thrownOf(error: Json | undefined): Error {
  return isObject(error) ? new AgentError(error as unknown as ErrorData) : new Error(String(error));
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function oddValues(): Record<string, unknown> {
  const circle: unknown[] = [];
  circle.push(circle);
  return {
    nothing: undefined,
    function: () => 1,
    symbol: Symbol('x'),
    'not a number': [Number.NaN],
    infinity: { a: Number.POSITIVE_INFINITY },
    error: new Error('x'),
    map: new Map(),
    bytes: new Uint8Array(1),
    bigint: 1n,
    circle,
    hole: Array.from({ length: 2 }).fill(1, 1),
  };
}
