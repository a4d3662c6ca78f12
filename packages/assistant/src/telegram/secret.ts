import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';

/** What Telegram takes as the secret of a webhook. */
export const secretPattern: RegExp = /^[\w-]{1,256}$/;

/**
 * Whether the header `X-Telegram-Bot-Api-Secret-Token` holds the secret. How long it takes tells nothing about either:
 * the digests are compared, and to the end. An empty secret is matched by nothing.
 */
export async function secretMatches(
  given: string | null | undefined,
  expected: string,
  runtime: Pick<Runtime, 'digest'> = systemRuntime,
): Promise<boolean> {
  const [ours, theirs] = await Promise.all([runtime.digest(expected), runtime.digest(given ?? '')]);
  let difference = ours.length ^ theirs.length;
  for (let index = 0; index < ours.length; index += 1)
    difference |= ours.charCodeAt(index) ^ theirs.charCodeAt(index);
  return difference === 0 && expected !== '';
}
