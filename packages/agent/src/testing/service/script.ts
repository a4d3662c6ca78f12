import type { Usage } from '../../values/usage.ts';
import type { ScriptAnswer, ScriptBlock, Step } from './provider-testing.ts';

/** Default usage of a scripted response. */
export const scriptUsage: Usage = Object.freeze({ inputTokens: 120, outputTokens: 30 });

/** Default model of a scripted response. */
export const scriptModel = 'scripted-model';

/** Creates a call block; `input` is the value of the arguments or the raw text of their JSON. */
export function callBlock(id: string, name: string, input: unknown): ScriptBlock & { readonly type: 'call' } {
  return { type: 'call', id, name, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

/** Creates a response from its blocks. A string is a text block; the blocks determine the stop reason. */
export function scriptResponse(
  blocks: readonly (string | ScriptBlock)[],
  rest: Partial<Omit<ScriptAnswer, 'blocks'>> = {},
): ScriptAnswer {
  const whole = blocks.map((block) =>
    typeof block === 'string' ? { type: 'text' as const, text: block } : block,
  );
  const calls = whole.some((block) => block.type === 'call');
  return {
    blocks: whole,
    stop: calls ? 'tool_use' : 'complete',
    usage: scriptUsage,
    model: scriptModel,
    ...rest,
  };
}

/** Returns the text that is streamed for a block. */
export function textOfBlock(block: ScriptBlock): string {
  return block.type === 'call' ? block.input : block.text;
}

/** Splits a text into about `count` parts of equal length, none empty. */
export function splitText(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  const found: string[] = [];
  for (let start = 0; start < text.length; start += size) found.push(text.slice(start, start + size));
  return found;
}

/** Returns the steps of one block. */
export function blockSteps(block: ScriptBlock, at: number, deltas: readonly string[]): Step[] {
  return [
    { type: 'open', at },
    ...deltas.map((text): Step => ({ type: 'delta', at, text })),
    ...(block.type === 'reasoning' && block.seal !== undefined ? [{ type: 'seal' as const, at }] : []),
    { type: 'close', at },
  ];
}

/** Returns the default steps of a response: one block after another, each in `count` deltas, then the end. */
export function responseSteps(answer: ScriptAnswer, count: number = 3): Step[] {
  const steps = answer.blocks.flatMap((block, at) =>
    blockSteps(block, at, splitText(textOfBlock(block), count)),
  );
  return [...steps, { type: 'end' }];
}

/** Returns the steps up to and including the first one that `isLast` accepts; all of them if it accepts none. */
export function responseStepsUntil(answer: ScriptAnswer, isLast: (step: Step) => boolean): Step[] {
  const steps = responseSteps(answer);
  const last = steps.findIndex(isLast);
  return last === -1 ? steps : steps.slice(0, last + 1);
}
