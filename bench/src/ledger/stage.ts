import type { Agent, ExecutorOptions, Message, RunOptions, RunResult, Tool } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import type { CacheBreak } from '@cobbler/agent/provider';
import { VirtualClock } from './clock.ts';
import type { Mind } from './service.ts';
import { LedgerService } from './service.ts';
import type { Subject } from './subjects.ts';

/** What may differ from one stage to the next. */
export interface StageOptions {
  /** Changes bodies before the service reads them. */
  readonly edit?: (body: Record<string, unknown>) => void;
}

/** One service with its ledger, one clock, and agents that ask there. */
export class Stage {
  readonly clock: VirtualClock = new VirtualClock();
  readonly service: LedgerService;
  readonly agent: Agent;
  /** What was reported of broken prefixes, by all runs. */
  readonly breaks: CacheBreak[] = [];
  readonly #subject: Subject;

  constructor(subject: Subject, mind: Mind, { edit }: StageOptions = {}) {
    const { testing, prompt } = subject;
    const now = () => this.clock.now();
    this.#subject = subject;
    this.service = new LedgerService({ testing, prompt, cache: subject.cache(), now, mind, edit });
    this.agent = this.anotherAgent();
  }

  /** An agent that knows nothing of what was sent before, as after a restart. */
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

  /** Runs to the end. */
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

/** Real modules are loaded in real time, which the virtual clock does not see: once before the first work. */
export async function warmUp(subjects: readonly Subject[]): Promise<void> {
  for (const subject of subjects) {
    const stage = new Stage(subject, () => ({ blocks: ['Ready.'] }));
    await stage.agent.run({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Ready?' }] }],
      tools: [],
    });
  }
}

/** A tool that reads and tells so many characters. */
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

/** Text of so many characters, different for each seed. */
export function words(seed: string, characters: number): string {
  return seed.repeat(Math.ceil(characters / Math.max(1, seed.length))).slice(0, characters);
}
