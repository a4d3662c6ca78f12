import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import { optional, read, text, when, withMethods } from '@cobbler/agent/input';

/** The pattern of a webhook secret. */
export const secretPattern: RegExp = /^[\w-]{1,256}$/;

const textOrNull = when<string | null>(
  (value) => value === null || typeof value === 'string',
  'a string or null',
);

const canDigest = withMethods<Pick<Runtime, 'digest'>>('digest');

/**
 * Returns true if the header `X-Telegram-Bot-Api-Secret-Token` contains the secret. It compares complete digests, so
 * the duration reveals nothing about either value. An empty secret never matches.
 */
export async function secretMatches(
  given: string | null | undefined,
  expected: string,
  runtime: Pick<Runtime, 'digest'> = systemRuntime,
): Promise<boolean> {
  read(given, optional(textOrNull), 'given');
  read(expected, text, 'expected');
  read(runtime, canDigest, 'runtime');
  const [ours, theirs] = await Promise.all([runtime.digest(expected), runtime.digest(given ?? '')]);
  let difference = ours.length ^ theirs.length;
  for (let index = 0; index < ours.length; index += 1)
    difference |= ours.charCodeAt(index) ^ theirs.charCodeAt(index);
  return difference === 0 && expected !== '';
}
