import type { SeededRandom } from '@cobbler/agent/testing';

/** Snippets that have broken parsers before: framing in text, escapes, wide and combining characters. */
const snippets: readonly string[] = [
  'plain words ',
  'a longer run of quite ordinary text, as most of it is. ',
  '漢字かな',
  '🧵👩‍👩‍👧🇨🇭',
  'e\u0301',
  '\r\n',
  '\n\n',
  '\r',
  '\t',
  '\u0000\u0007\u001b[31m',
  '\u2028\u2029\u0085',
  '\ufeff',
  '"quoted" and \\ escaped \\u0041 \\n',
  'data: [DONE]\n\nevent: error\ndata: {}\n\n',
  '{"type":"end"}\n',
  ': comment\n',
  '</script><!--',
  '%s {0} $& $1',
  '\ud83e',
  '\udd14',
];

/**
 * Returns a text of unusual and ordinary snippets. It is never blank, since blank texts are handled
 * differently.
 */
export function randomText(random: SeededRandom, maxSnippets: number = 6): string {
  let text = random.pick(['T', 'é', 'ж', '漢']);
  for (let count = random.between(0, maxSnippets); count > 0; count -= 1) text += random.pick(snippets);
  return text;
}

/** Returns a random JSON value down to this depth. */
export function randomValue(random: SeededRandom, depth: number): unknown {
  const kind = random.between(0, depth > 0 ? 7 : 5);
  if (kind <= 1) return randomText(random, 3);
  if (kind === 2) return random.pick([0, -1, 1.5, 1e21, -2.5e-9, 9007199254740991]);
  if (kind === 3) return random.chance(0.5);
  if (kind === 4) return null;
  if (kind === 5) return '';
  if (kind === 6) return Array.from({ length: random.between(0, 3) }, () => randomValue(random, depth - 1));
  return randomArguments(random, depth - 1);
}

/** Returns random arguments, with any names except `__proto__`. */
export function randomArguments(random: SeededRandom, depth: number = 3): Record<string, unknown> {
  const names = ['value', 'path', 'schlüssel', '漢', 'a "b"', 'constructor', 'length', 'x.y', ''];
  const entries = Array.from({ length: random.between(0, 4) }, (): [string, unknown] => [
    random.pick(names),
    randomValue(random, depth),
  ]);
  return Object.fromEntries(entries);
}

/** Returns base64 of random length, like a signature. */
export function randomSeal(random: SeededRandom): string {
  const bytes = Array.from({ length: random.between(6, 60) }, () => random.between(0, 255));
  return btoa(String.fromCharCode(...bytes));
}
