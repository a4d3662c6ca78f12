import { OutputCapture } from '@cobbler/agent/node';

/** Maximum number of stored bytes of a final text: 1 MiB. */
export const maxOutput = 1_048_576;

/** Limits a final text to 1 MiB by removing its middle. */
export function capped(text: string): string {
  if (text.length <= maxOutput / 3) return text;
  const capture = new OutputCapture(maxOutput);
  capture.push(Buffer.from(text));
  return capture.text();
}

/**
 * The part of a final text that was not streamed. `nothing`: the streamed text, or its last part, is the final text,
 * ignoring whitespace. `rest`: the final text continues it. `other`: it is a different text.
 */
export type Unsaid =
  | { readonly type: 'nothing' }
  | { readonly type: 'rest' | 'other'; readonly text: string };

/** Compares a final text with the chunks streamed before it. */
export function unsaid(pieces: readonly string[], final: string): Unsaid {
  const wanted = bare(final);
  if (wanted === '') return { type: 'nothing' };
  const said = pieces.join('');
  if (bare(said) === '') return { type: 'rest', text: final };
  if (bare(capped(said)) === wanted || bare(capped(pieces.at(-1) ?? '')) === wanted)
    return { type: 'nothing' };
  let ending = '';
  for (let at = pieces.length - 1; at >= 0 && ending.length < wanted.length; at -= 1)
    ending = bare(pieces[at] ?? '') + ending;
  if (ending === wanted) return { type: 'nothing' };
  return final.startsWith(said)
    ? { type: 'rest', text: final.slice(said.length) }
    : { type: 'other', text: final };
}

function bare(text: string): string {
  return text.replace(/\s+/g, '');
}
