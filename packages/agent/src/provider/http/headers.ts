import { AgentError } from '../../values/errors.ts';

/** Header names are given in lower case, whatever the wire or the vendor's client wrote. */
export type Headers = Readonly<Record<string, string>>;

/**
 * Joins headers; later ones win.
 * @throws AgentError `invalid` for a name or value that HTTP cannot carry. The value, which may be a key, is
 * not shown.
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
  // RFC 9110, 5.5 and 5.6.2: tokens as names, visible characters, blanks and tabs as values.
  if (/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return;
  throw new AgentError({
    kind: 'invalid',
    code: 'header',
    message: `The header ${JSON.stringify(name)} holds a character that HTTP cannot send, such as a line break. Check the key or option that it is made from.`,
  });
}

/** The response headers that these names, or prefixes ending in `*`, stand for; nothing when there are none. */
export function pickHeaders(
  wanted: readonly string[] | undefined,
  response: { readonly headerNames: readonly string[]; header(name: string): string | undefined },
): Headers | undefined {
  if (wanted === undefined) return undefined;
  let found: Record<string, string> | undefined;
  for (const name of response.headerNames) {
    if (!isWanted(wanted, name)) continue;
    const value = response.header(name);
    if (value === undefined) continue;
    found ??= {};
    found[name] = value;
  }
  return found;
}

function isWanted(patterns: readonly string[], name: string): boolean {
  for (const pattern of patterns) {
    if (pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))) return true;
  }
  return false;
}
