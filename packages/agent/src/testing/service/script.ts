import type { Usage } from '../../values/usage.ts';
import type { ScriptAnswer, ScriptBlock, Step } from './provider-testing.ts';

/** What a scripted answer used unless it says otherwise. */
export const scriptUsage: Usage = Object.freeze({ inputTokens: 120, outputTokens: 30 });

/** The model that a scripted answer comes from unless it says otherwise. */
export const scriptModel = 'scripted-model';

/** A call block; `input` may be the value of the arguments or the raw text of their JSON. */
export function callBlock(id: string, name: string, input: unknown): ScriptBlock & { readonly type: 'call' } {
  return { type: 'call', id, name, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

/** A whole answer from its blocks. A string is a text block; the stop reason follows from the blocks. */
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

/** The text that a block is told in. */
export function textOfBlock(block: ScriptBlock): string {
  return block.type === 'call' ? block.input : block.text;
}

/** Cuts a text into about `pieces` parts of equal length, none empty. */
export function splitText(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  const found: string[] = [];
  for (let start = 0; start < text.length; start += size) found.push(text.slice(start, start + size));
  return found;
}

/** The steps of one block. */
export function blockSteps(block: ScriptBlock, at: number, deltas: readonly string[]): Step[] {
  return [
    { type: 'open', at },
    ...deltas.map((text): Step => ({ type: 'delta', at, text })),
    ...(block.type === 'reasoning' && block.seal !== undefined ? [{ type: 'seal' as const, at }] : []),
    { type: 'close', at },
  ];
}

/** The plain telling of an answer: one block after another, each in `count` deltas, then the end. */
export function responseSteps(answer: ScriptAnswer, count: number = 3): Step[] {
  const steps = answer.blocks.flatMap((block, at) =>
    blockSteps(block, at, splitText(textOfBlock(block), count)),
  );
  return [...steps, { type: 'end' }];
}

/** The steps up to and including the first one that fits. */
export function responseStepsUntil(answer: ScriptAnswer, isLast: (step: Step) => boolean): Step[] {
  const steps = responseSteps(answer);
  const last = steps.findIndex(isLast);
  return last === -1 ? steps : steps.slice(0, last + 1);
}
