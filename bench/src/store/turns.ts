import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { defineTool, Executor, memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { createClaude } from '@cobbler/provider-claude';
import { model, prompts, toolDescription, toolName, toolOutput, toolSchema } from '../answer.ts';
import type { TurnFigures } from './figures.ts';
import { cpuTime } from './figures.ts';

/** Runs of each store that count; the best of each is compared. */
const runs = 12;

/**
 * The work t50 of `npm run bench`, its tool declared `read`, over the memory store and over the SQLite store in turn.
 *
 * @param turns what the script of the work says
 */
export async function measureTurns(folder: string, url: string, turns: number): Promise<TurnFigures> {
  const memory = new Loop(memoryStore(), url, turns);
  const store = sqliteStore(join(folder, 'sessions.db'));
  const sqlite = new Loop(store, url, turns);
  for (let run = 0; run < runs + 2; run += 1) {
    await memory.run();
    await sqlite.run();
  }
  await store.close();
  return { memoryCpu: memory.best / turns, sqliteCpu: sqlite.best / turns };
}

class Loop {
  /** The least that a run has cost so far, in microseconds; the first two are left out. */
  best = Number.POSITIVE_INFINITY;
  readonly #executor: Executor;
  readonly #turns: number;
  #done = 0;

  constructor(store: SessionStore, url: string, turns: number) {
    const tool = defineTool({
      name: toolName,
      description: toolDescription,
      parameters: { ...toolSchema, required: [...toolSchema.required] },
      effect: 'read',
      execute: () => toolOutput,
    });
    const agent = createClaude({ apiKey: 'key', baseURL: url, model });
    this.#executor = new Executor({ agent, tools: [tool], limits: { turns }, store });
    this.#turns = turns;
  }

  async run(): Promise<void> {
    globalThis.gc?.();
    const began = cpuTime();
    const { metrics } = (await this.#executor.run(prompts.work)).unwrap();
    const cost = cpuTime() - began;
    if (metrics.invocations !== this.#turns) throw new Error(`There were ${metrics.invocations} turns.`);
    this.#done += 1;
    if (this.#done > 2) this.best = Math.min(this.best, cost);
  }
}
