import type { RawOptions } from '../config/run-flags.ts';
import type { Explanation } from '../explain/catalogue.ts';
import { catalogue, codes, explanationOf } from '../explain/catalogue.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import { nearest } from '../terminal/suggestion.ts';
import { wrap } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';

const maxSuggested = 5;

/**
 * Runs `cobbler explain CODE`: prints what an error code means and what to do. Without a code, lists all codes.
 * @throws UsageError for an unknown code.
 */
export function explain(
  given: readonly string[],
  options: RawOptions,
  io: Pick<Io, 'stdout' | 'env'>,
): number {
  const entries = given.map((code) => findExplanation(code, given));
  const [entry] = entries;
  const columns = screenFor(io.stdout, io.env).columns();
  if (options['json'] === true) {
    const shown = entry === undefined ? catalogue : entries.length === 1 ? entry : entries;
    io.stdout.write(`${JSON.stringify(shown)}\n`);
  } else {
    const texts = entries.map((one) => explanationLines(one, columns, io.env).join('\n'));
    io.stdout.write(`${entry === undefined ? codeList(columns).join('\n') : texts.join('\n\n')}\n`);
  }
  return 0;
}

function findExplanation(given: string, all: readonly string[]): Explanation {
  const word = given.replaceAll('-', '_').replace(/^[[("']+|[\])"',.]+$/g, '');
  const code = codes.find((one) => one.toLowerCase() === word.toLowerCase());
  const entry = code === undefined ? undefined : explanationOf(code);
  if (entry !== undefined) return entry;
  const near = similarCodes(word);
  throw new UsageError(
    `There is no error code ${JSON.stringify(given)}.${near.length === 0 ? '' : ` Did you mean ${near.join(', ')}?`}`,
    'Services can also return codes that Cobbler does not list. To list all of its codes: cobbler explain',
    `If it is a prompt: cobbler run explain ${all.join(' ')}`,
  );
}

/** Returns the codes that a mistyped or partly remembered code probably means, the most likely first. */
function similarCodes(word: string): string[] {
  const parts = word
    .toLowerCase()
    .split('_')
    .filter((part) => part.length > 2);
  const holding = codes.filter((code) => parts.some((part) => code.toLowerCase().includes(part)));
  const first = nearest(word, codes);
  return [...new Set([...(first === undefined ? [] : [first]), ...holding])].slice(0, maxSuggested);
}

function explanationLines(
  { code, kinds = [], status = [], what, todo, see }: Explanation,
  columns: number,
  env: Environment,
): string[] {
  const about = [...kinds, ...status.map((one) => `HTTP ${one}`)].join(', ');
  const indent = (text: string) => wrap(text, columns - 3).map((line) => `  ${line}`);
  return [
    about === '' ? code : `${code}  (${about})`,
    '',
    ...indent(what),
    '',
    ...indent(withProgramName(todo, env)),
    ...(see === undefined ? [] : ['', `  See ${see}`]),
  ];
}

function codeList(columns: number): string[] {
  return catalogue.flatMap(({ title, entries }, at) => [
    ...(at === 0 ? [] : ['']),
    title,
    ...wrap(entries.map(({ code }) => code).join('  '), columns - 3).map((line) => `  ${line.trim()}`),
  ]);
}
