/**
 * The position where growing text can be cut so that the part before it stays unchanged: after the last empty line
 * outside of code and lists.
 */
export function stableLength(markdown: string): number {
  let [at, stable, inFence] = [0, 0, false];
  let afterBlank = false;
  for (const line of markdown.split('\n')) {
    const isFence = /^ {0,3}(```|~~~)/.test(line);
    if (afterBlank && !inFence && /^[^\s>*+\-|\d]/.test(line)) stable = at;
    if (isFence) inFence = !inFence;
    afterBlank = line.trim() === '';
    at += line.length + 1;
  }
  return stable;
}
