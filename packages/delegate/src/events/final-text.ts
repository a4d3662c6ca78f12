import { OutputCapture } from '@cobbler/agent/node';

/** Maximum number of stored bytes of a final text: 1 MiB. */
export const maxOutput = 1_048_576;

/** Limits a final text to 1 MiB by removing its middle. */
export function limitText(text: string): string {
  if (text.length <= maxOutput / 3) return text;
  const capture = new OutputCapture(maxOutput);
  capture.push(Buffer.from(text));
  return capture.text();
}

/**
 * The part of a final text that was not streamed. `nothing`: the streamed text, or its last part, is the final text,
 * ignoring whitespace. `rest`: the final text continues it. `other`: it is a different text.
 */
export type RemainingText =
  | { readonly type: 'nothing' }
  | { readonly type: 'rest' | 'other'; readonly text: string };

/** Compares a final text with the chunks streamed before it. */
export function remainingText(blocks: readonly string[], final: string): RemainingText {
  const wanted = withoutSpace(final);
  if (wanted === '') return { type: 'nothing' };
  const streamed = blocks.join('');
  if (withoutSpace(streamed) === '') return { type: 'rest', text: final };
  if (withoutSpace(limitText(streamed)) === wanted || withoutSpace(limitText(blocks.at(-1) ?? '')) === wanted)
    return { type: 'nothing' };
  let ending = '';
  for (let at = blocks.length - 1; at >= 0 && ending.length < wanted.length; at -= 1)
    ending = withoutSpace(blocks[at] ?? '') + ending;
  if (ending === wanted) return { type: 'nothing' };
  return final.startsWith(streamed)
    ? { type: 'rest', text: final.slice(streamed.length) }
    : { type: 'other', text: final };
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}
