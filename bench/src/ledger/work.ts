import type { RunResult, Tool } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import type { CacheBreak } from '@cobbler/agent/provider';
import { callBlock } from '@cobbler/agent/testing';
import type { Bill } from './bill.ts';
import { shareOf, tokensOf } from './bill.ts';
import type { Reply } from './service.ts';
import type { StageOptions } from './stage.ts';
import { reader, Stage, words } from './stage.ts';
import type { Subject } from './subjects.ts';

/** One turn of a workload: the model's response and the duration of the rest of the turn. */
export interface TurnShape {
  /** Number of tool calls; zero in the last turn of a prompt. */
  readonly calls: number;
  /** Number of characters of the model's text. */
  readonly said: number;
  /** Number of characters of each result. */
  readonly result: number;
  /** Duration of the first tool call, in milliseconds. */
  readonly takesMs: number;
}

/** A prompt of the user and the delay before it. */
export interface PromptShape {
  readonly pauseMs: number;
  readonly turns: readonly TurnShape[];
}

/** The prompts of one session on one stage. */
export interface WorkShape {
  /** Number of characters of the instructions. */
  readonly system: number;
  readonly tools: number;
  readonly prompts: readonly PromptShape[];
}

/** The outcome of a workload. */
export interface Outcome {
  readonly requests: number;
  readonly bill: Bill;
  /** All input tokens in the ledger, cached or not. */
  readonly tokens: number;
  /** The price paid for the input, as a share of its price without a cache. */
  readonly share: number;
  readonly breaks: readonly CacheBreak[];
  readonly results: readonly RunResult[];
}

/** Performs a workload with the provider's own requests. */
export async function perform(
  subject: Subject,
  shape: WorkShape,
  options: StageOptions = {},
): Promise<Outcome> {
  const replies = repliesTo(shape);
  const stage = new Stage(
    subject,
    (_, index) => replies[index] ?? { blocks: ['Nothing is left to say.'] },
    options,
  );
  const store = memoryStore();
  const tools = toolsOf(shape, stage);
  const system = words('Work with care and say what you did. ', shape.system);
  const results: RunResult[] = [];
  for (const [index, { pauseMs }] of shape.prompts.entries()) {
    stage.clock.pass(pauseMs);
    const run = { tools, system, store };
    const result = await stage.play(`Please do the work number ${index + 1}.`, run, { sessionId: 'work' });
    if (result.status !== 'complete')
      throw new Error(`The work ended as ${result.status}: ${result.error?.message}`);
    results.push(result);
  }
  const { bill, entries } = stage.service;
  const { breaks } = stage;
  return { requests: entries.length, bill, tokens: tokensOf(bill), share: shareOf(bill), breaks, results };
}

/** Returns the tools. The first tool call of a turn takes time; its arguments contain how much. */
function toolsOf({ tools }: WorkShape, { clock }: Stage): Tool[] {
  return Array.from({ length: tools }, (_, index) =>
    reader(`read_${index}`, 0, {
      execute: async ({ path, from }) => {
        const [characters, takesMs] = String(from).split('/').map(Number);
        if (takesMs !== undefined && takesMs > 0) await clock.sleep(takesMs);
        return words(`${String(path)} `, characters ?? 0);
      },
      validate: (value) => ({ ok: true, value }),
    }),
  );
}

function repliesTo({ prompts, tools }: WorkShape): Reply[] {
  let calls = 0;
  return prompts.flatMap(({ turns }) =>
    turns.map((turn, at): Reply => {
      const text = words(`Step ${at + 1} of the work is next. `, turn.said);
      const blocks = Array.from({ length: turn.calls }, (_, index) => {
        calls += 1;
        const from = `${turn.result}/${index === 0 ? turn.takesMs : 0}`;
        return callBlock(`call_${calls}`, `read_${calls % tools}`, { path: `src/part-${calls}.ts`, from });
      });
      return { blocks: text === '' ? blocks : [text, ...blocks] };
    }),
  );
}

/** Returns turns that are all the same except for the last, which has no calls. */
export function loop(turns: number, turn: Partial<TurnShape> = {}): TurnShape[] {
  const shape = { calls: 1, said: 200, result: 600, takesMs: 0, ...turn };
  return Array.from({ length: turns }, (_, at) => (at === turns - 1 ? { ...shape, calls: 0 } : shape));
}
