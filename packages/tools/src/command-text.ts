import { stripVTControlCharacters } from 'node:util';

/** Share of non-text characters above which output is not shown. */
const maxInvalid = 0.1;

/**
 * Cleans the output of a command for a model: no colors or cursor movements, plain line breaks, only text. Binary
 * output is described instead.
 */
export function commandText(raw: string, totalBytes: number = raw.length): string {
  const plain = stripVTControlCharacters(raw).replaceAll('\r\n', '\n');
  let odd = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters.
  const text = plain.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\ufffd]/g, (letter) => {
    if (letter === '\r') return '\n';
    odd += 1;
    return '\ufffd';
  });
  if (odd > text.length * maxInvalid)
    return `[binary output, ${totalBytes.toLocaleString('en-US')} bytes, not shown]`;
  return text;
}
