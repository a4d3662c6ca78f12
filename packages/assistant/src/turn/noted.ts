import type { Json } from '@cobbler/agent';
import type { StepCall, StepSettings, Steps } from '@cobbler/agent/runner';
import type { AssistantDependencies } from './dependencies.ts';

/** A step whose result a run must find again when it continues. */
export interface NotedStep<Value extends Json> {
  /** Unique in the run. */
  readonly name: string;
  readonly chatId: string;
  readonly run: (call: StepCall) => Promise<Value>;
  readonly settings?: StepSettings;
}

/** Performs a step whose result is noted: after a wait or a crash, the run gets the same result again. */
export async function runNotedStep<Value extends Json>(
  { chats, runtime }: Pick<AssistantDependencies, 'chats' | 'runtime'>,
  steps: Steps,
  { name, chatId, run, settings }: NotedStep<Value>,
): Promise<Value> {
  const key = `${steps.runId}/${name}`;
  const step = async (call: StepCall) => {
    const known = await chats.noted(key);
    if (known !== undefined) return known;
    return await chats.note({ key, chatId, value: await run(call), now: runtime.now() });
  };
  // Only this function writes notes with this key, and what JSON returns is what it was given.
  return (await steps.run(name, step, settings)) as Value;
}
