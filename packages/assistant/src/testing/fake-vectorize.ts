import { count, flag, read, record } from '@cobbler/agent/input';
import type { Vectorize, VectorizeEntry } from '../cloudflare/vectorize.ts';
import { cosine } from '../memory/vector.ts';

/** A fake index that returns written data later, like the real one. */
export interface FakeVectorize extends Vectorize {
  /** Makes all data written so far visible in results. */
  settle(): void;
  /** Discards written data that is not visible in results yet. */
  lose(): void;
  readonly size: number;
  /** Number of calls per method. */
  readonly calls: Readonly<Record<'upsert' | 'query' | 'getByIds' | 'deleteByIds', number>>;
}

/** Options of {@link fakeVectorize}. */
export interface FakeVectorizeOptions {
  readonly dimensions: number;
  /** True if written data is visible in results immediately, which the real index never guarantees. Default false. */
  readonly immediate?: boolean;
}

const readOptions = record<FakeVectorizeOptions>({ dimensions: count, immediate: flag }, ['dimensions']);

type Mutation = (vectors: Map<string, VectorizeEntry>) => void;

/**
 * Creates an in-memory Vectorize with the documented limits. As in the real one, written data becomes visible later:
 * https://developers.cloudflare.com/vectorize/platform/limits/
 */
export function fakeVectorize(options: FakeVectorizeOptions): FakeVectorize {
  const { dimensions, immediate = false } = read(options, readOptions);
  const vectors = new Map<string, VectorizeEntry>();
  const waiting: Mutation[] = [];
  const calls = { upsert: 0, query: 0, getByIds: 0, deleteByIds: 0 };
  const settle = () => {
    for (const mutation of waiting.splice(0)) mutation(vectors);
  };
  const change = (mutation: Mutation) => {
    waiting.push(mutation);
    if (immediate) settle();
    return { mutationId: String(calls.upsert + calls.deleteByIds) };
  };
  return {
    calls,
    settle,
    lose: () => void waiting.splice(0),
    get size() {
      return vectors.size;
    },
    async upsert(entries) {
      calls.upsert += 1;
      refuseIf(entries.length === 0, 'no vectors');
      refuseIf(entries.length > 1000, 'more than 1000 vectors');
      for (const entry of entries) checkEntry(entry, dimensions);
      return change((there) => {
        for (const entry of entries) there.set(entry.id, structuredClone(entry));
      });
    },
    async query(vector, { topK, namespace }) {
      calls.query += 1;
      checkValues(vector, dimensions);
      refuseIf(!Number.isInteger(topK) || topK < 1 || topK > 100, `topK of ${topK}`);
      refuseIf(bytes(namespace) > 64, 'a namespace of more than 64 bytes');
      const asked = Float32Array.from(vector);
      const matches = [...vectors.values()]
        .filter((entry) => entry.namespace === namespace)
        .map(({ id, values }) => ({ id, score: cosine(asked, Float32Array.from(values)) }))
        .sort((one, other) => other.score - one.score)
        .slice(0, topK);
      return { count: matches.length, matches };
    },
    async getByIds(ids) {
      calls.getByIds += 1;
      refuseIf(ids.length === 0 || ids.length > 20, `${ids.length} ids`);
      return ids.flatMap((id) => vectors.get(id) ?? []);
    },
    async deleteByIds(ids) {
      calls.deleteByIds += 1;
      refuseIf(ids.length === 0 || ids.length > 100, `${ids.length} ids`);
      return change((there) => {
        for (const id of ids) there.delete(id);
      });
    },
  };
}

function checkEntry({ id, values, namespace }: VectorizeEntry, dimensions: number): void {
  refuseIf(id === '' || bytes(id) > 64, 'an id of more than 64 bytes');
  refuseIf(namespace === '' || bytes(namespace) > 64, 'a namespace of more than 64 bytes');
  checkValues(values, dimensions);
}

function checkValues(values: readonly number[], dimensions: number): void {
  refuseIf(!Array.isArray(values) || values.length !== dimensions, `a vector of ${values.length} numbers`);
  refuseIf(
    values.some((value) => typeof value !== 'number' || !Number.isFinite(value)),
    'a vector with values that are not numbers',
  );
}

function refuseIf(isWrong: boolean, what: string): void {
  if (isWrong) throw new Error(`VECTOR_QUERY_ERROR: the index does not accept ${what}`);
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
