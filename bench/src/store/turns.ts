import { join } from 'node:path';
import type { Agent, ModelResponse, Store } from '@cobbler/agent';
import { defineTool, Executor, memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import {
  argumentsOf,
  model,
  prompts,
  textOf,
  toolDescription,
  toolName,
  toolOutput,
  toolSchema,
} from '../answer.ts';
import type { Script } from '../work.ts';
import type { TurnFigures } from './figures.ts';
import { cpuTime, quantile } from './figures.ts';

/** Number of counted runs per store, after warm-up runs in which code is compiled. */
const runs = 120;
const warmUp = 60;

/**
 * Runs the loop t50 of `npm run bench`, with its tool declared `read`, alternating between the memory store and the
 * SQLite store. The model responds in the next turn of the event loop, so that almost only the store is measured.
 */
export async function measureTurns(folder: string, script: Script): Promise<TurnFigures> {
  const store = sqliteStore(join(folder, 'sessions.db'));
  const [memory, sqlite] = [new Loop(memoryStore(), script), new Loop(store, script)];
  for (let run = 0; run < warmUp + runs; run += 1) {
    await memory.run(run >= warmUp);
    await sqlite.run(run >= warmUp);
  }
  await store.close();
  return { memory: memory.figures(), sqlite: sqlite.figures() };
}

class Loop {
  readonly #costs: number[] = [];
  readonly #executor: Executor;
  readonly #turns: number;

  constructor(store: Store, script: Script) {
    const tool = defineTool({
      name: toolName,
      description: toolDescription,
      parameters: { ...toolSchema, required: [...toolSchema.required] },
      effect: 'read',
      execute: () => toolOutput,
    });
    this.#turns = script.turns;
    this.#executor = new Executor({
      agent: agentOf(script),
      tools: [tool],
      limits: { turns: script.turns },
      store,
    });
  }

  async run(counts: boolean): Promise<void> {
    const began = cpuTime();
    const { metrics } = (await this.#executor.run(prompts.work)).unwrap();
    if (metrics.invocations !== this.#turns) throw new Error(`There were ${metrics.invocations} turns.`);
    if (counts) this.#costs.push((cpuTime() - began) / this.#turns);
  }

  figures(): { readonly best: number; readonly median: number } {
    return { best: quantile(this.#costs, 0), median: quantile(this.#costs, 0.5) };
  }
}

/** Returns a model with the responses of the script. */
function agentOf(script: Script): Agent {
  const text = textOf(script);
  return {
    provider: 'script',
    model,
    capabilities: {
      files: [],
      reasoning: false,
      parallelCalls: true,
      output: 'none',
      sampling: false,
      cacheUsage: false,
    },
    async run({ messages }) {
      await new Promise((resolve) => setImmediate(resolve));
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      return answer(script, text, turn);
    },
  };
}

function answer(script: Script, text: string, turn: number): ModelResponse {
  const isLast = turn === script.turns - 1;
  const call = {
    type: 'tool_call' as const,
    id: `toolu_${turn}`,
    toolName,
    arguments: JSON.parse(argumentsOf(script, turn)) as Record<string, unknown>,
  };
  const said = { type: 'text' as const, text };
  return {
    content: text,
    toolCalls: isLast ? [] : [call],
    usage: { inputTokens: 1000 + turn, outputTokens: 50 },
    stopReason: isLast ? 'complete' : 'tool_use',
    message: { role: 'assistant', content: isLast ? [said] : [said, call] },
    model,
    attempts: 1,
    wasted: { inputTokens: 0, outputTokens: 0 },
  };
}
