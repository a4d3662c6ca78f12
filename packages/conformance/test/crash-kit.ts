import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, ModelResponse, RunResult, Tool } from '@cobbler/agent';
import { defineTool, Executor } from '@cobbler/agent';
import type { OnWrite } from '@cobbler/agent/node';
import { sqliteStore } from '@cobbler/agent/node';
import { calls, scriptedModel, seededRandom, textResponse } from '@cobbler/agent/testing';

/** The files of one crash drill: the store, the effects of the tools, the emitted events. */
export interface CrashFiles {
  readonly store: string;
  readonly effects: string;
  readonly shown: string;
}

export function crashFiles(folder: string): CrashFiles {
  return {
    store: join(folder, 'sessions.db'),
    effects: join(folder, 'effects.txt'),
    shown: join(folder, 'shown.jsonl'),
  };
}

const effects = { read: 'read', set: 'idempotent', write: 'once', bad: 'once' } as const;
const names = ['read', 'set', 'write', 'bad'] as const;

/** Returns the script of the model for a seed. The script of seed 0 uses every kind of tool. */
function scriptOf(seed: number): ModelResponse[] {
  if (seed === 0)
    return [calls(['read', 'read']), calls(['write', 'set', 'read', 'write']), textResponse('Done.')];
  const random = seededRandom(seed);
  const turns = Array.from({ length: random.between(1, 4) }, () =>
    calls(Array.from({ length: random.between(1, 4) }, () => random.pick(names))),
  );
  return [...turns, textResponse('Done.')];
}

/** Returns an agent that depends only on the conversation, so that any process can continue. */
function agentOf(seed: number): Agent {
  const script = scriptOf(seed);
  return {
    ...scriptedModel([]),
    run({ messages }) {
      const answers = messages.filter(({ role }) => role === 'assistant').length;
      return Promise.resolve(script[answers] ?? textResponse('Done.'));
    },
  };
}

/** Returns tools that record their effects where a crash cannot undo them. */
function toolsOf(files: CrashFiles): Tool[] {
  return names.map((name) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      parameters: { type: 'object' },
      effect: effects[name],
      execute(_args, { idempotencyKey }) {
        appendFileSync(files.effects, `${effects[name]} ${idempotencyKey}\n`);
        if (name === 'bad') throw new Error('broken');
        return `${name} done`;
      },
    }),
  );
}

/** Starts the run, or resumes it if it has started, and closes the store. */
export async function crashRun(files: CrashFiles, seed: number, onWrite: OnWrite): Promise<RunResult> {
  const store = sqliteStore(files.store, { onWrite });
  const executor = new Executor({ agent: agentOf(seed), tools: toolsOf(files), store });
  const onEvent = (event: object) => {
    if ('seq' in event) appendFileSync(files.shown, `${JSON.stringify(event)}\n`);
  };
  const hasBegun = (await store.read('one', 0, 1)).length > 0;
  const run = hasBegun
    ? executor.resume('one', { onEvent })
    : executor.run('Go.', { sessionId: 'one', onEvent });
  const result = await run;
  await store.close();
  return result;
}
