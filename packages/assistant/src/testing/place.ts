import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { callable, read, record, text } from '@cobbler/agent/input';
import type { ContractCase, FakeRuntime } from '@cobbler/agent/testing';
import { ContractFailure, fakeRuntime } from '@cobbler/agent/testing';
import type { Embedder } from '../memory/embedder.ts';
import { lexicalEmbedder } from '../memory/lexical-embedder.ts';

/** External dependencies of a store under test. */
export interface ContractContext {
  readonly runtime: Runtime;
  readonly embedder: Embedder;
}

/** The storage of one case, empty at first. */
export interface StorageLocation<Thing> {
  /** Opens the storage. Each call simulates a restart or another process with the same data. */
  open(means: ContractContext): Thing | Promise<Thing>;
  close(): Promise<void>;
}

/** An implementation to test against a contract. */
export interface PlaceSubject<Thing> {
  /** Name of the implementation, for reports. */
  readonly name: string;
  /** Creates storage, once for each case. */
  begin(): Promise<StorageLocation<Thing>>;
}

/** The environment of one case. */
export interface StorageFixture<Thing> {
  /** The first opened instance. */
  readonly store: Thing;
  readonly runtime: FakeRuntime;
  /** Opens the same storage again. */
  again(means?: Partial<ContractContext>): Promise<Thing>;
}

/** A case that is not bound to an implementation yet. */
export interface PlaceCase<Thing> {
  readonly group: string;
  readonly name: string;
  run(fixture: StorageFixture<Thing>): Promise<void>;
}

const readSubject: Reader<PlaceSubject<never>> = record<PlaceSubject<never>>(
  { name: text, begin: callable },
  ['name', 'begin'],
);

export function placeCases<Thing>(
  cases: readonly PlaceCase<Thing>[],
  subject: PlaceSubject<Thing>,
): ContractCase[] {
  const given: PlaceSubject<Thing> = read(subject, readSubject, 'subject');
  return cases.map(({ group, name, run }) => ({
    group,
    name,
    async run() {
      const place = await given.begin();
      try {
        const runtime = fakeRuntime();
        const means = { runtime, embedder: lexicalEmbedder() };
        const again = async (other: Partial<ContractContext> = {}) =>
          await place.open({ ...means, ...other });
        await run({ store: await again(), runtime, again });
      } finally {
        await place.close();
      }
    },
  }));
}

export function expectThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ContractFailure(`expected ${what}`);
}

/** Compares two values as JSON, ignoring the order of fields. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [textOf(actual), textOf(expected)];
  if (found !== wanted)
    throw new ContractFailure(`${what}: expected ${wanted}, found ${found}`.slice(0, 2000));
}

/** Returns the AgentError that a call rejects with. */
export async function expectError(call: Promise<unknown>, what: string): Promise<AgentError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (AgentError.is(error)) return error;
  throw new ContractFailure(`${what}: expected an AgentError, found ${String(error ?? 'success')}`);
}

function textOf(value: unknown): string {
  const sorted = (_: string, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item;
  return JSON.stringify(value, sorted) ?? 'nothing';
}
