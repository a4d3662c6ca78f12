import type { Agent, ExecutorOptions, Message, RunOptions, RunResult, Tool } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import type { CacheBreak } from '@cobbler/agent/provider';
import { VirtualClock } from './clock.ts';
import type { Mind } from './service.ts';
import { LedgerService } from './service.ts';
import type { Subject } from './subjects.ts';

/** Options of a stage. */
export interface StageOptions {
  /** Changes bodies before the service reads them. */
  readonly edit?: (body: Record<string, unknown>) => void;
}

/** One service with its ledger, one clock, and the agents that use them. */
export class Stage {
  readonly clock: VirtualClock = new VirtualClock();
  readonly service: LedgerService;
  readonly agent: Agent;
  /** The broken cache prefixes reported by all runs. */
  readonly breaks: CacheBreak[] = [];
  readonly #subject: Subject;

  constructor(subject: Subject, mind: Mind, { edit }: StageOptions = {}) {
    const { testing, prompt } = subject;
    const now = () => this.clock.now();
    this.#subject = subject;
    this.service = new LedgerService({ testing, prompt, cache: subject.cache(), now, mind, edit });
    this.agent = this.anotherAgent();
  }

  /** Returns an agent that does not know the earlier requests, as after a restart. */
  anotherAgent(): Agent {
    return this.#subject.agent(this.service.transport, this.clock);
  }

  executor(options: Partial<ExecutorOptions> = {}): Executor {
    return new Executor({
      agent: this.agent,
      runtime: this.clock,
      ...options,
      limits: { turns: 1_000, ms: 1e9, ...options.limits },
    });
  }

  /** Performs a run until it ends. */
  async play(
    prompt: string | readonly Message[],
    options: Partial<ExecutorOptions> = {},
    rest: RunOptions = {},
  ): Promise<RunResult> {
    const run = this.executor(options).run(prompt, {
      ...rest,
      onEvent: (event) => {
        if (event.type === 'cache_break') this.breaks.push(event);
        rest.onEvent?.(event);
      },
    });
    return await this.clock.until(run.result);
  }
}

/** Performs one workload first: modules load in real time, which the virtual clock does not see. */
export async function warmUp(subjects: readonly Subject[]): Promise<void> {
  for (const subject of subjects) {
    const stage = new Stage(subject, () => ({ blocks: ['Ready.'] }));
    await stage.agent.run({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Ready?' }] }],
      tools: [],
    });
  }
}

/** Returns a tool that returns this many characters. */
export function reader(name: string, characters: number, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `Reads one file of the project and tells its text. ${'It says what it says. '.repeat(4)}`,
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The path of the file.' },
        from: { type: 'integer', minimum: 1 },
      },
      required: ['path'],
    },
    effect: 'read',
    timeoutMs: 1e9,
    execute: ({ path }) => words(`${String(path)} `, characters),
    ...more,
  };
}

/** Returns text with this many characters, different for each seed. */
export function words(seed: string, characters: number): string {
  return seed.repeat(Math.ceil(characters / Math.max(1, seed.length))).slice(0, characters);
}
