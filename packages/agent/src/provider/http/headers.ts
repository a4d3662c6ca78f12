import { AgentError } from '../../values/errors.ts';

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
    message: `The header ${JSON.stringify(name)} contains a character that HTTP cannot send, such as a line break. Check the key or option that the header comes from.`,
  });
}

/** Returns the response headers that match these names, or prefixes ending in `*`; undefined if there are none. */
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
