import { AgentError } from '../../values/errors.ts';
import type { RawResponse } from '../wire/transport.ts';

/** Headers with lower-case names, whatever the wire or the vendor's client used. */
export type Headers = Readonly<Record<string, string>>;

/**
 * Joins headers; later ones take precedence.
 * @throws AgentError `invalid` for a name or value that HTTP cannot carry. The error does not contain the value, which
 * may be a key.
 */
export function joinHeaders(...sets: readonly (Headers | undefined)[]): Headers {
  const joined: Record<string, string> = {};
  for (const headers of sets) {
    if (headers === undefined) continue;
    for (const [name, value] of Object.entries(headers)) {
      checkHeader(name, value);
      joined[name.toLowerCase()] = value;
    }
  }
  return joined;
}

function checkHeader(name: string, value: string): void {
  // RFC 9110, 5.5 and 5.6.2: names are tokens; values are visible characters, spaces and tabs.
  if (/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return;
  throw new AgentError({
    kind: 'invalid',
    code: 'header',
    message: `The header ${JSON.stringify(name)} contains a character, such as a line break, that is not allowed in HTTP headers. Check the key or option that the header comes from.`,
  });
}

/** Returns selected headers of a response; undefined if there are none. */
export type HeaderPicker = (response: Pick<RawResponse, 'headerNames' | 'header'>) => Headers | undefined;

/** Returns a function that picks the response headers with these names, or prefixes ending in `*`. */
export function headerPicker(wanted: readonly string[]): HeaderPicker {
  const prefixes = wanted.flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1)] : []));
  return (response) => {
    const { headerNames } = response;
    let found: Record<string, string> | undefined;
    for (let index = 0; index < headerNames.length; index += 1) {
      const name = headerNames[index] as string;
      let isWanted = wanted.includes(name);
      for (let at = 0; at < prefixes.length && !isWanted; at += 1)
        isWanted = name.startsWith(prefixes[at] as string);
      const value = isWanted ? response.header(name) : undefined;
      if (value === undefined) continue;
      found ??= {};
      found[name] = value;
    }
    return found;
  };
}
