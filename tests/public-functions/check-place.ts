import { AgentError } from '@cobbler/agent';
import type { OddValue } from '../../packages/conformance/src/executor/untyped/values.ts';
import { oddCalls, throwing } from './odd-arguments.ts';
import type { Place } from './places.ts';
import type { SampleTable } from './table.ts';
import { withLimit } from './with-limit.ts';

/** Which of the calls are made. */
export interface Share {
  /** Makes every nth call; 1 makes all. A number that is coprime to the number of values varies them from place to place. */
  readonly every: number;
}

/** Returns what is wrong with a public function; nothing if it accepts or properly rejects every argument. */
export async function problemsOf(
  place: Place,
  { samples, exceptions }: SampleTable,
  odds: readonly OddValue[],
  { every }: Share,
): Promise<readonly string[]> {
  const { name } = place;
  if (Object.hasOwn(exceptions, name)) return [];
  const sample = samples[name];
  if (sample === undefined && place.needsSample) return [`${name} has no sample in sample-arguments.ts`];
  const { owner, call } = await place.open();
  const valid = async () => (await sample?.(owner as never)) ?? [];
  // Before the valid call, which may change its arguments.
  const calls = oddCalls(await valid(), odds).filter((_, index) => index % every === 0);
  const args = await valid();
  const problems: string[] = [];
  const isInvalid = sample && (await withLimit(outcomeOf(() => call(...args), [])));
  if (isInvalid !== undefined) problems.push(`the sample: ${describe(isInvalid)}`);
  const pending = calls.map(async ({ at, odd, change }) => {
    const given = change(await valid());
    const error = await outcomeOf(() => call(...given), given);
    // Code of the caller may throw errors of its own.
    const isOwn = odd === throwing && error instanceof RangeError;
    if (error !== undefined && !isOwn && !isProper(error)) problems.push(`${at}, ${odd}: ${describe(error)}`);
  });
  await withLimit(Promise.all(pending));
  const [first] = problems;
  return first === undefined ? [] : [`${name}: ${problems.length} of ${calls.length} calls: ${first}`];
}

/** Returns what a call threw or rejected with, or the error of a failed run. */
async function outcomeOf(call: () => unknown, args: readonly unknown[]): Promise<unknown> {
  try {
    const result = call();
    // An odd value that is returned unchanged is not a result to look into.
    if (args.includes(result)) return undefined;
    const value = isIterator(result) ? await result.next() : await result;
    return args.includes(value) ? undefined : errorIn(value);
  } catch (thrown) {
    return thrown ?? new TypeError(`${thrown} was thrown`);
  }
}

function errorIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('status' in value) || !('error' in value))
    return undefined;
  return value.status === 'failed' ? value.error : undefined;
}

function isIterator(value: unknown): value is AsyncIterator<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;
}

function isProper(error: unknown): boolean {
  return AgentError.is(error) && error.code !== undefined && error.code !== '';
}

function describe(error: unknown): string {
  try {
    if (AgentError.is(error)) return `AgentError ${error.code ?? 'without a code'}: ${error.message}`;
    return error instanceof Error
      ? `${error.name}: ${error.message} ${error.stack?.split('\n')[1]?.trim()}`
      : String(error);
  } catch {
    return 'a value that cannot be read';
  }
}
