import type { ErrorKind } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { ContractFailure } from '@cobbler/agent/testing';
import type { ChannelFault, ChannelScene, ChannelSubject } from './stand.ts';

export interface ChannelCase {
  readonly group: string;
  readonly name: string;
  /** Features of the channel that the case needs; without one of them, it is skipped. */
  readonly needs: readonly (ChannelFault | 'tap' | 'remove')[];
  run(fixture: ChannelScene, subject: ChannelSubject): Promise<void>;
}

/** Returns a function that creates cases of one group. */
export function group(
  name: string,
): (what: string, run: ChannelCase['run'], needs?: ChannelCase['needs']) => ChannelCase {
  return (what, run, needs = []) => ({ group: name, name: what, needs, run });
}

export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ContractFailure(`expected ${what}`);
}

export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [JSON.stringify(actual) ?? 'nothing', JSON.stringify(expected) ?? 'nothing'];
  if (found !== wanted)
    throw new ContractFailure(`${what}: expected ${wanted}, found ${found}`.slice(0, 2000));
}

/** The expected error of a call. */
export interface ExpectedError {
  readonly kinds: readonly ErrorKind[];
  readonly code?: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

export async function expectFailure(call: Promise<unknown>, wanted: ExpectedError): Promise<AgentError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) throw new ContractFailure('expected the call to fail, but it succeeded');
  if (!AgentError.is(error)) throw new ContractFailure(`expected an AgentError, found ${String(error)}`);
  expectThat(
    wanted.kinds.includes(error.kind),
    `kind ${wanted.kinds.join(' or ')}, not ${error.kind}: ${error.message}`,
  );
  expectSame(error.retryable, wanted.retryable, 'retryable');
  if (wanted.code !== undefined) expectSame(error.code, wanted.code, 'the code');
  else
    expectThat(error.code !== 'maybe_sent' && error.code !== 'chat_gone', `a code other than ${error.code}`);
  if (wanted.retryAfterMs !== undefined) expectSame(error.retryAfterMs, wanted.retryAfterMs, 'retryAfterMs');
  expectThat(error.message.trim() !== '', 'a message');
  return error;
}

/** Returns the readable characters of a text, without whitespace. */
export function lettersOf(text: string): string {
  return text.replace(/\s+/g, '');
}
