// `npm run bench -- counts`: counts, without a clock, what one turn of the loop costs: calls of Cobbler's own functions,
// the number of different functions among them, and promises. `--list` prints every function. Exits with 1 above a
// maximum.
import { Session } from 'node:inspector/promises';
import { setImmediate as nextTick } from 'node:timers/promises';
import { promiseHooks } from 'node:v8';
import { defineTool, Executor } from '@cobbler/agent';
import type { Transport } from '@cobbler/agent/provider';
import { createClaude } from '@cobbler/provider-claude';
import { answersOf, model, prompts, toolDescription, toolName, toolOutput, toolSchema } from './answer.ts';

/** What one turn costs. */
export interface TurnCounts {
  readonly calls: number;
  readonly functions: number;
  readonly promises: number;
}

/** Maximum counts of a turn with 40 text deltas and one call. They may only be lowered. */
export const maxCounts: TurnCounts = { calls: 568, functions: 206, promises: 7 };

/** The promises that {@link transportOf} creates for each turn. */
const transportPromises = 4;

/** Short and long run: their difference excludes what happens once for each run. */
const turns = { few: 20, many: 60 };

interface Counted {
  readonly promises: number;
  /** Number of calls by function. */
  readonly functions: ReadonlyMap<string, number>;
}

/** Responds from memory, each body in one chunk, so that the counts do not depend on the network. */
function transportOf(count: number): Transport {
  const bodies = answersOf({ turns: count, deltas: 40, argumentBytes: 60, fragmentBytes: 20 });
  const header = (name: string) => (name === 'content-type' ? 'text/event-stream' : undefined);
  return async () => {
    await nextTick();
    const body = bodies.shift() ?? Buffer.alloc(0);
    const read = async (onChunk: (bytes: Uint8Array) => void) => {
      await nextTick();
      onChunk(body);
    };
    return { status: 200, header, headerNames: ['content-type'], read, close: () => {} };
  };
}

async function runTurns(count: number): Promise<void> {
  const transport = transportOf(count);
  const agent = createClaude({ apiKey: 'key', baseURL: 'http://model.test', model, transport });
  const tool = defineTool({
    name: toolName,
    description: toolDescription,
    parameters: { ...toolSchema, required: [...toolSchema.required] },
    execute: () => toolOutput,
  });
  const run = new Executor({ agent, tools: [tool], limits: { turns: count } }).run(prompts.work);
  let shown = 0;
  run.subscribe((event) => {
    if (event.type === 'text_delta') shown += event.text.length;
  });
  const { metrics } = (await run).unwrap();
  if (metrics.invocations !== count || shown === 0) throw new Error('The run did not follow the script.');
}

async function counted(count: number): Promise<Counted> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let promises = 0;
  const stop = promiseHooks.onInit(() => {
    promises += 1;
  });
  await runTurns(count);
  stop();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const functions = new Map<string, number>();
  for (const script of result) {
    const [, file] = /\/packages\/([^/]+\/(?:src|dist)\/.*)$/.exec(script.url) ?? [];
    if (file === undefined) continue;
    for (const { functionName, ranges } of script.functions) {
      const [range] = ranges;
      // The first function of a script is the module itself.
      if (range === undefined || range.count === 0 || range.startOffset === 0) continue;
      functions.set(`${file} ${functionName || '(anonymous)'} ${range.startOffset}`, range.count);
    }
  }
  return { promises, functions };
}

/** Counts what one turn costs. Run it in a process of its own. */
export async function countTurn(): Promise<TurnCounts & { readonly list: ReadonlyMap<string, number> }> {
  await runTurns(turns.few);
  const few = await counted(turns.few);
  const many = await counted(turns.many);
  const between = turns.many - turns.few;
  const list = new Map<string, number>();
  for (const [name, count] of many.functions) {
    const calls = (count - (few.functions.get(name) ?? 0)) / between;
    // Less than once in a turn is work for another occasion, such as a cache that grows.
    if (calls >= 0.5) list.set(name, calls);
  }
  const calls = [...list.values()].reduce((sum, each) => sum + each, 0);
  const promises = (many.promises - few.promises) / between - transportPromises;
  return { calls: Math.ceil(calls), functions: list.size, promises: Math.ceil(promises), list };
}

async function main(): Promise<void> {
  const { list, ...counts } = await countTurn();
  if (process.argv.includes('--list'))
    for (const [name, calls] of [...list].sort((one, other) => other[1] - one[1]))
      process.stdout.write(`${calls.toFixed(2).padStart(8)}  ${name}\n`);
  let isMissed = false;
  for (const [name, count] of Object.entries(counts)) {
    const limit = maxCounts[name as keyof TurnCounts];
    isMissed ||= count > limit;
    process.stdout.write(
      `${name.padEnd(10)} ${String(count).padStart(5)}  ${count > limit ? 'NOT MET' : 'met'} <= ${limit}\n`,
    );
  }
  process.exitCode = isMissed ? 1 : 0;
}

if (import.meta.main) await main();
