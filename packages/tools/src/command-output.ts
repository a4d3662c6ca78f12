import { stripVTControlCharacters } from 'node:util';

/** Above this share of non-text characters, output is not shown. */
const maxInvalid = 0.1;

/**
 * Output of a command, cleaned for a model: no colors or cursor movements, plain line breaks, only text. Binary output
 * is described instead.
 */
export function commandOutput(raw: string, totalBytes: number): string {
  const plain = stripVTControlCharacters(raw).replaceAll('\r\n', '\n');
  let odd = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const text = plain.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\ufffd]/g, (letter) => {
    if (letter === '\r') return '\n';
    odd += 1;
    return '\ufffd';
  });
  if (odd > text.length * maxInvalid)
    return `[binary output, ${totalBytes.toLocaleString('en-US')} bytes, not shown]`;
  return text;
}

/** The last whole line of a piece of output that says something, for a watcher; at most 200 characters. */
export function lastLine(raw: string): string | undefined {
  const lines = commandOutput(raw, raw.length).split('\n');
  const line = lines.findLast((one) => one.trim() !== '');
  return line === undefined ? undefined : line.trim().slice(0, 200);
}
