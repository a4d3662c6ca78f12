/** Matches the start of a line of server-sent events. */
const field = /^($|:|(data|event|id|retry)(:|$))/;

/** Number of characters of an incomplete line that are kept, enough for its name and the word `error`. */
const kept = 16;

/**
 * Returns a check of the bytes of one event stream, which returns what is wrong with them: characters that are not
 * UTF-8, lines that are not fields, errors without data. The SDK replaces the first and skips the others.
 */
export function lineCheck(): (bytes: Uint8Array) => string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let isError = false;
  const isWrong = (line: string) => {
    const isSilent = isError && line === '';
    if (/^(event|data)(:|$)/.test(line)) isError = /^event: ?error$/.test(line);
    return isSilent || !field.test(line);
  };
  return (bytes) => {
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: true });
    } catch {
      return 'it is not UTF-8';
    }
    const lines = (rest + text).split(/\r\n|[\r\n]/);
    rest = (lines.pop() ?? '').slice(0, kept);
    return lines.some(isWrong) ? 'it has a line that is not a field, or an error without data' : undefined;
  };
}
