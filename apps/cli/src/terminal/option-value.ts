import { didYouMean } from './suggestion.ts';
import { UsageError } from './usage-error.ts';

/**
 * Reads the value of an option with one of the parsers, which return undefined for a value that they reject. Returns
 * undefined if the option was not given. A value near one of the candidates gets a suggestion.
 * @throws UsageError that names the option and its value.
 */
export function optionValue<Value>(
  value: unknown,
  flag: string,
  parse: (text: string) => Value | undefined,
  advice: string,
  candidates: readonly string[] = [],
): Value | undefined {
  if (value === undefined) return undefined;
  const parsed = parse(String(value));
  if (parsed !== undefined) return parsed;
  throw new UsageError(
    `${flag} cannot be ${JSON.stringify(value)}.${didYouMean(String(value), candidates)}`,
    advice,
  );
}

/** Reads one of some words. */
export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word | undefined {
  return (text) => words.find((word) => word === text);
}

/** Reads the number of a port to listen on. @throws UsageError for anything but a port. */
export function portOption(value: unknown, flag: string): number | undefined {
  return optionValue(value, flag, parsePort, 'Use a number from 0 (any free port) to 65535.');
}

function parsePort(text: string): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : undefined;
}
