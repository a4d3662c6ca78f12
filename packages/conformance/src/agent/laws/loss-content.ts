import type { ModelResponse } from '@cobbler/agent';
import type { ProviderTesting, ScriptAnswer } from '@cobbler/agent/testing';
import type { Mutation, ScriptFrame } from './mutations.ts';

/** A damaged stream, and the content of the undamaged one. */
export interface DamagedResponse {
  readonly answer: ScriptAnswer;
  readonly mutation: Mutation;
  readonly whole: Content;
}

/** The content of a response. Blocks of one kind are joined, because some wires send no borders between them. */
export interface Content extends Pick<ModelResponse, 'stopReason' | 'model'> {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: ModelResponse['toolCalls'];
  /** The data of all seals. */
  readonly seals: readonly unknown[];
  readonly usage: Omit<ModelResponse['usage'], 'reasoningTokens'>;
}

/** Returns the content of a response. */
export function contentOf(
  { message, toolCalls, stopReason, usage, model }: ModelResponse,
  testing: ProviderTesting,
): Content {
  const { reasoningTokens, ...counts } = usage;
  return {
    text: message.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    reasoning: message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''),
    calls: toolCalls,
    seals: message.content.flatMap((part) =>
      'seal' in part && part.seal !== undefined ? [part.seal.data] : [],
    ),
    stopReason,
    usage: testing.lacks['reasoning-usage'] === undefined ? usage : counts,
    model,
  };
}

/** Returns whether a chunk of content was lost, repeated or moved. */
export function touchesContent(
  { touched }: Mutation,
  answer: ScriptAnswer,
  testing: ProviderTesting,
): boolean {
  return touched.some(
    (frame) => /^(delta|seal)$/.test(frame.step?.type ?? '') || wholeCallIn(frame, answer, testing) >= 0,
  );
}

/** Returns the number of the call that a frame contains with all of its arguments, on a wire that sends it so; -1 for none. */
function wholeCallIn({ step }: ScriptFrame, { blocks }: ScriptAnswer, { lacks }: ProviderTesting): number {
  const at = step !== undefined && 'at' in step ? step.at : -1;
  const isCall = lacks['argument-chunks'] !== undefined && blocks[at]?.type === 'call';
  return isCall ? blocks.slice(0, at).filter(({ type }) => type === 'call').length : -1;
}

/** Returns the content that the chunks of a damaged stream add up to. */
export function damagedContent(
  found: Content,
  { answer, mutation: { frames }, whole }: DamagedResponse,
  testing: ProviderTesting,
): Content {
  const { blocks } = answer;
  const arrived = blocks.map((_, at) =>
    frames.map(({ step }) => (step?.type === 'delta' && step.at === at ? step.text : '')).join(''),
  );
  const joined = (kind: 'text' | 'reasoning') =>
    blocks
      .map(({ type }, at) => (type === kind ? arrived[at] : ''))
      .join('')
      .toWellFormed();
  const content = { ...whole, text: joined('text'), reasoning: joined('reasoning') };
  if (testing.lacks['argument-chunks'] !== undefined) {
    const calls = frames.flatMap((frame) => whole.calls[wholeCallIn(frame, answer, testing)] ?? []);
    const isOver = whole.stopReason === 'tool_use' && calls.length === 0;
    return { ...content, calls, stopReason: isOver ? 'complete' : whole.stopReason };
  }
  const inputs = blocks.flatMap((block, at) => (block.type === 'call' ? [arrived[at] ?? ''] : []));
  const calls = whole.calls.map((call, at) => {
    const { problem } = found.calls[at] ?? {};
    return problem === undefined
      ? { ...call, arguments: parseFields(inputs[at] ?? '') }
      : (found.calls[at] ?? call);
  });
  return { ...content, calls };
}

/** Removes characters of two code units and replacements of their halves, because a moved chunk may split them. */
export function unbroken(text: string): string {
  return text.replace(/[\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function parseFields(input: string): Record<string, unknown> {
  return input.trim() === '' ? {} : JSON.parse(input);
}
