import type { ErrorData, Json, JsonObject } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import type { StepCall, Steps, Workflow } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';
import type { Counter } from './environment.ts';

/** The input and functions of a contract workflow. */
export interface ContractWorkflowContext {
  readonly input: JsonObject;
  readonly steps: Steps;
  /** Adds a line to a mark of this run. Returns the number of its lines. */
  note(mark: string, text?: string): Promise<number>;
  /** Returns whether a mark of this run has a line. */
  has(mark: string): Promise<boolean>;
  /**
   * Performs a step that adds a line to a mark of this run, unless the mark has one: marks are the run's own data.
   * Returns whether it was performed.
   */
  once(mark: string, text?: string): Promise<boolean>;
  /** Resolves when the mark of this run has a line. */
  reached(mark: string): Promise<void>;
  /** Adds a line to a mark that runs share. Returns the number of its lines. */
  noteShared(mark: string, text: string): Promise<number>;
}

/** Returns the workflow that an environment deploys. Its input names one of {@link contractWorkflows}. */
export function contractWorkflow(counter: Counter): Workflow {
  return (input, steps) => {
    const given = isObject(input) ? (input as JsonObject) : {};
    const workflow = contractWorkflows[String(given['workflow'])];
    if (workflow === undefined) throw new Error(`There is no workflow ${JSON.stringify(given['workflow'])}.`);
    const note = (mark: string, text = '') => counter.add(markOf(steps.runId, mark), text);
    const has = async (mark: string) => (await counter.list(markOf(steps.runId, mark))).length > 0;
    return workflow({
      input: given,
      steps,
      note,
      has,
      async once(mark, text) {
        if (await has(mark)) return false;
        await steps.run(mark, () => note(mark, text));
        return true;
      },
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
 * The contract workflows by name, so that runners in other processes or engines can use them too. A runner may call
 * them any number of times; their marks tell them what they have done. They write `recorded` when they reach a wait,
 * and write it again with each call.
 */
export const contractWorkflows: Readonly<Record<string, (run: ContractWorkflowContext) => Promise<Json>>> = {
  /** One step that returns the input value. */
  async echo({ input, steps, note }) {
    const value = await steps.run('echo', async () => {
      await note('echo');
      return input['value'] ?? null;
    });
    return { value };
  },

  /** `count` actions, with `isPaced` with a checkpoint after each. After the one numbered `waitAfter` it waits for the signal `go`. */
  async steps({ input, steps, note, once }) {
    let sum = 0;
    for (let at = 0; at < Number(input['count']); at += 1) {
      const isNew = await once(`s${at}`);
      sum += at;
      if (at === input['waitAfter']) {
        await note('recorded');
        await steps.waitFor('go');
      }
      if (isNew && input['isPaced'] === true) await steps.checkpoint();
    }
    return { sum };
  },

  /** `count` steps that return their places. Returns the sum. */
  async many({ input, steps }) {
    let sum = 0;
    for (let at = 0; at < Number(input['count']); at += 1) sum += await steps.run(`s${at}`, () => at);
    return sum;
  },

  /** Two steps of one name and one of another, which return their keys. */
  async keys({ steps }) {
    const keys: string[] = [];
    for (const name of ['a', 'a', 'b']) keys.push(await steps.run(name, (call) => call.idempotencyKey));
    return keys;
  },

  /** A step that fails its first `failures` attempts with `error`. */
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
    if (input['rethrow'] === true && failed !== null) throw new AgentError(failed as unknown as ErrorData);
    return failed;
  },

  /** A step whose result JSON cannot represent. */
  async anyValue({ steps }) {
    const value = new Map([['a', 1]]);
    return (await steps.run('map', () => value)) === value;
  },

  /** A step, a wait until a time, a step. */
  async sleeper({ input, steps, note, once }) {
    await once('before');
    await note('recorded');
    await steps.waitFor('never sent', { until: Number(input['until'] ?? 0) });
    await once('after');
    return 'awake';
  },

  /** Waits until invalid times. Returns the error of each. */
  async badTimes({ steps }) {
    const found: Json[] = [];
    for (const until of [Number.NaN, Number.POSITIVE_INFINITY])
      found.push(await errorOf(() => steps.waitFor('go', { until })));
    return found;
  },

  /**
   * A step, then a wait for each signal in `names`, at most until `until`, with `timed` only for that name, then a
   * step. Returns the values received, or their lengths if `measure` is true.
   */
  async waiter({ input, steps, note, once }) {
    await once('before');
    await note('recorded');
    const { until, names = ['go'] } = input as { readonly until?: number; readonly names?: string[] };
    const came: Json[] = [];
    for (const name of names) {
      const isTimed = input['timed'] === undefined || input['timed'] === name;
      const value = await steps.waitFor(name, isTimed ? defined({ until }) : {});
      const { length } = String(value);
      came.push(value === undefined ? 'timed out' : { value: input['measure'] === true ? length : value });
    }
    await once('after');
    return came;
  },

  /** Returns the name of the first signal in `names` that comes. */
  async any({ input, steps, note }) {
    await note('recorded');
    let waiting: unknown;
    for (const name of input['names'] as string[]) {
      try {
        await steps.waitFor(name);
        return name;
      } catch (thrown) {
        waiting = thrown;
      }
    }
    throw waiting;
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
      else await untilAborted(call.signal);
      await note('out', call.signal.aborted ? 'stopped' : 'not stopped');
      return 'late';
    };
    const settings = { ...defined({ timeoutMs }), ...(retry && { retry }) };
    const error = await errorOf(() => steps.run('hanging', perform, settings));
    await steps.run('after', () => note('after')).catch((thrown) => note('refused', kindOf(thrown)));
    return error;
  },

  /** Waits outside of any step until the run is stopped. */
  async between({ steps, note, once }) {
    await once('before');
    await note('recorded');
    await untilAborted(steps.signal);
    await note('stopped');
    return null;
  },

  /** `count` parallel steps. None ends before all have started. */
  async parallel({ input, steps, note, reached }) {
    const places = Array.from({ length: Number(input['count']) }, (_, at) => at);
    const done = places.map((at) =>
      steps.run(`p${at}`, async () => {
        await note(`p${at}`);
        for (const other of places) await reached(`p${other}`);
        return at;
      }),
    );
    return await Promise.all(done);
  },

  /** A workflow that throws. */
  async throwing({ input }) {
    throw thrownOf(input['error']);
  },

  /** A workflow whose output cannot be stored. */
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

  /** Starts a step after the call that began it has ended with a wait. */
  async leftBehind({ steps, note, reached, once }) {
    reached('over')
      .then(() => steps.run('late', () => note('ran')))
      .catch((thrown) => note('refused', kindOf(thrown)));
    await once('recorded');
    await steps.waitFor('go');
    return 'over';
  },

  /**
   * Writes a line to a shared mark at its start and at its end. In between it waits for `go` if `wait` is
   * true.
   */
  async turn({ input, steps, note, has, noteShared }) {
    const name = String(input['name']);
    const mark = String(input['mark']);
    if (!(await has('begun'))) {
      await steps.run('begin', () => noteShared(mark, `+${name}`));
      await note('begun');
    }
    if (input['wait'] === true) await steps.waitFor('go');
    await steps.run('end', () => noteShared(mark, `-${name}`));
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

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
