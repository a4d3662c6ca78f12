import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { ContractCase, FakeRuntime } from '@cobbler/agent/testing';
import { ContractFailure, fakeRuntime } from '@cobbler/agent/testing';
import type { Embedder } from '../memory/embedder.ts';
import { lexicalEmbedder } from '../memory/lexical-embedder.ts';

/** External dependencies of a store under test. */
export interface ContractContext {
  readonly runtime: Runtime;
  readonly embedder: Embedder;
}

/** Where things are kept, empty at first. */
export interface StorageLocation<Thing> {
  /** Opens what is kept here. Each time is another life, or another process, with the same things. */
  open(means: ContractContext): Thing | Promise<Thing>;
  close(): Promise<void>;
}

/** An implementation that has to pass a contract. */
export interface PlaceSubject<Thing> {
  /** For reports only. */
  readonly name: string;
  /** Makes a new place. Called once for each case. */
  begin(): Promise<StorageLocation<Thing>>;
}

/** Where one case plays. */
export interface PlaceScene<Thing> {
  /** The first life. */
  readonly store: Thing;
  readonly runtime: FakeRuntime;
  /** Another life in the same place. */
  again(means?: Partial<ContractContext>): Promise<Thing>;
}

/** A case before it is bound to an implementation. */
export interface PlaceCase<Thing> {
  readonly group: string;
  readonly name: string;
  run(scene: PlaceScene<Thing>): Promise<void>;
}

export function placeCases<Thing>(
  cases: readonly PlaceCase<Thing>[],
  subject: PlaceSubject<Thing>,
): ContractCase[] {
  return cases.map(({ group, name, run }) => ({
    group,
    name,
    async run() {
      const place = await subject.begin();
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

/** Both as JSON, whatever the order of their fields. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [textOf(actual), textOf(expected)];
  if (found !== wanted)
    throw new ContractFailure(`${what}: expected ${wanted}, found ${found}`.slice(0, 2000));
}

/** The AgentError that a call rejects with. */
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
