import type {
  Agent,
  Capabilities,
  ContextPolicy,
  ExecutorOptions,
  Message,
  ResumeOptions,
  Run,
  RunEvent,
  RunOptions,
  StandardSchema,
  Store,
} from '@cobbler/agent';
import { Executor, userMessage } from '@cobbler/agent';
import { offload, summarize } from '@cobbler/agent/context';
import { checkSchema, createAgent } from '@cobbler/agent/provider';
import { scriptCapabilities, scriptWire } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { audited } from './auditor.ts';
import type { Cellar } from './environment/cellar.ts';
import type { Disk } from './environment/disk.ts';
import type { Permits } from './environment/gatekeeper.ts';
import { gatekeeper } from './environment/gatekeeper.ts';
import { answerTool } from './environment/mind.ts';
import type { ModelService } from './environment/service.ts';
import type { Workshop } from './environment/workshop.ts';
import type { People } from './people.ts';
import type { Readers } from './readers.ts';
import { Program } from './scenario/program.ts';
import type { SimulatedRun } from './scenario/record.ts';
import { chainOf, mark, summaryOf } from './scenario/record.ts';
import type { SimulationSetting } from './scenario/setting.ts';
import { price, storeTimeoutMs } from './scenario/setting.ts';
import type { World } from './scenario/world.ts';
import { never } from './scenario/world.ts';
import type { Watcher } from './watcher.ts';

/** The environment of a program. */
export interface LifeContext {
  readonly world: World;
  readonly disk: Disk;
  readonly cellar: Cellar;
  readonly service: ModelService;
  readonly workshop: Workshop;
  readonly people: People;
  readonly watcher: Watcher;
  readonly readers: Readers;
  readonly setting: SimulationSetting;
}

/** The session that a run continues. */
export interface PastSession {
  readonly sessionId: string;
  /** Ids of the earlier runs that a run resumes. */
  readonly before: readonly string[];
}

/** One process of the agent: a program, its executor, and one run at a time. */
export class Life {
  readonly program: Program;
  /** All runs of this process, in order. */
  readonly records: SimulatedRun[] = [];
  readonly #around: LifeContext;
  readonly #executor: Executor;
  readonly #store: Store;
  readonly #permits: Permits | undefined;
  #current: SimulatedRun | undefined;
  #abort = new AbortController();
  #runs = 0;

  constructor(name: string, around: LifeContext, seed: number) {
    const { world, setting, disk } = around;
    this.program = new Program(name, world, seed);
    this.#around = around;
    this.#permits = setting.gated ? new Map() : undefined;
    this.#store = this.#watchedStore(disk.open(this.program));
    this.#executor = new Executor(this.#options());
  }

  get record(): SimulatedRun {
    if (this.#current === undefined) throw new Error(`${this.program.name} has no run yet.`);
    return this.#current;
  }

  /** Aborts the signal of the current run. */
  get abort(): AbortController {
    return this.#abort;
  }

  run(prompt: string | readonly Message[], past: PastSession): SimulatedRun {
    return this.#begin(past, (options) =>
      this.#executor.run(prompt, { ...options, sessionId: past.sessionId }),
    );
  }

  resume(past: PastSession, answers: NonNullable<ResumeOptions['answers']>): SimulatedRun {
    return this.#begin(past, (options) => this.#executor.resume(past.sessionId, { ...options, answers }));
  }

  #begin({ sessionId, before }: PastSession, start: (options: RunOptions) => Run): SimulatedRun {
    const { world, watcher, readers, setting, disk } = this.#around;
    disk.forgive(this.program);
    this.#abort = new AbortController();
    this.program.watch(this.#abort.signal);
    this.#runs += 1;
    const name = `${this.program.name}.${this.#runs}`;
    const isCrowded = this.#current?.hasty === true;
    const early: RunEvent[] = [];
    let record: SimulatedRun | undefined;
    const onEvent = (event: RunEvent) => {
      if (record === undefined) early.push(event);
      else watcher.see(record, event);
    };
    const schema = shapeFor(this.program);
    const output = setting.output === undefined ? {} : { output: { name: answerTool, schema } };
    const run = start({ signal: this.#abort.signal, onEvent, ...output });
    record = {
      name,
      program: this.program,
      sessionId,
      before,
      startedAt: world.elapsed,
      run,
      events: [],
      readings: [],
      calls: [],
      executions: [],
      accepted: [],
      stops: [],
      replies: [],
      asking: new Set(),
      waitedMs: 0,
      closing: false,
    };
    this.#current = record;
    for (const event of early) watcher.see(record, event);
    this.records.push(record);
    readers.begin(record, `${name}'s reader`);
    this.#noteEnd(record, isCrowded);
    return record;
  }

  /**
   *
   * @param isCrowded true if the previous run may still be using the store.
   */
  #noteEnd(record: SimulatedRun, isCrowded: boolean): void {
    const { world } = this.#around;
    record.run.result.then(
      (result) => {
        if (!this.program.alive) return;
        world.note(`${record.name}: ended: ${result.status}`);
        record.result = result;
        record.endedAt = world.elapsed;
        record.blind = isCrowded || record.read !== true;
        world.touch();
      },
      (error) => world.violate('P1 result', `the result of a run rejected with ${String(error)}`),
    );
  }

  #options(): ExecutorOptions {
    const { world, service, workshop, setting } = this.#around;
    const current = () => this.record;
    const { scheduling } = setting;
    const isClosing = () => this.#isClosing();
    return {
      agent: audited(this.#agent(), current, { service, world, isClosing }),
      tools: workshop.tools({
        current,
        permits: this.#permits,
        scheduling,
        offloads: setting.offloadAbove !== undefined,
      }),
      system: 'Work carefully.',
      limits: setting.limits,
      onLimit: setting.onLimit,
      toolErrors: setting.toolErrors,
      toolScheduling: scheduling,
      attended: setting.attended,
      store: this.#store,
      storeTimeoutMs,
      runtime: this.program.runtime,
      ...(this.#permits !== undefined && { gate: gatekeeper(world, this.program, this.#permits) }),
      ...defined({ approvalMs: setting.approvalMs }),
      ...(setting.priced && { pricing: () => price }),
      context: { ...this.#compaction(), ...this.#offload() },
    };
  }

  /** True if the run has reached a limit, in this process or in one that it continues. */
  #isClosing(): boolean {
    const { record } = this;
    const events = this.#around.disk.events(record.sessionId);
    const runs = [...chainOf(events, record), record.run.id];
    return events.some(
      (event) => event.type === 'stop_requested' && event.reason === 'limit' && runs.includes(event.runId),
    );
  }

  #agent(): Agent {
    const { service, setting } = this.#around;
    const capabilities: Capabilities = { ...scriptCapabilities, output: setting.output ?? 'native' };
    const wire = scriptWire({ baseURL: 'http://service.test', apiKey: 'no-key' });
    const transport = service.transport(this.program);
    return createAgent(wire, {
      model: 'asked-model',
      capabilities,
      runtime: this.program.runtime,
      transport,
    });
  }

  /** Records how far a run has progressed with its session. */
  #watchedStore(store: Store): Store {
    return {
      ...store,
      claim: (sessionId) =>
        afterwards(store.claim(sessionId), () => Object.assign(this.record, { claimed: true })),
      read: (sessionId, afterSeq, limit) =>
        afterwards(store.read(sessionId, afterSeq, limit), (events) => {
          const { record } = this;
          if (record.claimed === true) Object.assign(record, { read: true, known: events.at(-1)?.seq });
        }),
      append: (sessionId, events, writer) => {
        const { record } = this;
        const isEnd = events.some(({ type, runId }) => type === 'finished' && runId === record.run.id);
        if (this.program.alive && isEnd) record.closing = true;
        return store.append(sessionId, events, writer);
      },
    };
  }

  #offload(): Pick<ContextPolicy, 'offload'> {
    const { cellar, setting } = this.#around;
    const { offloadAbove } = setting;
    if (offloadAbove === undefined) return {};
    return { offload: offload(cellar.blobs(this.program), { overBytes: offloadAbove, excerptBytes: 600 }) };
  }

  #compaction(): Omit<ContextPolicy, 'offload'> {
    const { world, setting } = this.#around;
    const { program } = this;
    const { compactAbove: maxTokens } = setting;
    if (maxTokens === undefined) return {};
    const keep = world.choices.pick('keep', [2, 0, 5]);
    if (setting.summaryBy === 'model') return { maxTokens, compact: summarize(undefined, { keep }) };
    const compact = summarize(
      (messages) => {
        if (!program.alive) return never();
        program.cross('summary');
        const manner = world.choices.among<'sums up' | 'throws' | 'hangs'>('summary', [
          [90, 'sums up'],
          [5, 'throws'],
          [5, 'hangs'],
        ]);
        if (manner === 'hangs') return never();
        const ms = world.choices.pick('summary takes', [100, 900, 60_000]);
        return world.later(ms, program, `the summary ${manner}`, () => {
          if (manner === 'throws') throw new Error('no summary today');
          return summaryOf(messages);
        });
      },
      { keep },
    );
    return { maxTokens, compact };
  }
}

/** Acts when the response has arrived. */
function afterwards<Value>(
  answer: Value | Promise<Value>,
  act: (value: Value) => void,
): Value | Promise<Value> {
  if (!(answer instanceof Promise)) {
    // With a synchronous store the response arrives before the run is recorded, so the record is read a
    // moment later.
    void Promise.resolve(answer).then(act);
    return answer;
  }
  return answer.then((value) => {
    act(value);
    return value;
  });
}

/** Returns a prompt with a mark. */
export function promptText(number: number): string {
  return `Do the work. ${mark(`prompt ${number}`)}`;
}

/** Returns a conversation with another prompt at its end. */
export function goneOn(messages: readonly Message[], prompt: string): Message[] {
  return [...messages, userMessage(prompt)];
}

const shape = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};

/**
 * The schema of structured output. Its validation is a moment at which anything may happen to the program.
 */
function shapeFor(program: Program): StandardSchema<{ readonly n: number }> {
  return {
    '~standard': {
      version: 1,
      vendor: 'simulation',
      jsonSchema: { input: () => shape },
      validate: async (value) => {
        program.cross('shape');
        const problem = await checkSchema(shape, value);
        return problem === undefined
          ? { value: value as { readonly n: number } }
          : { issues: [{ message: problem }] };
      },
    },
  };
}
