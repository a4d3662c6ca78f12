import { WorkerEntrypoint } from 'cloudflare:workers';
import type { VectorizeEntry, VectorizeQuery } from '@cobbler/assistant/cloudflare';
import { fakeVectorize } from '@cobbler/assistant/testing';

/** Fakes of Workers AI and Vectorize, which only run at Cloudflare: the same methods, with vectors made of words. */
const dimensions = 1024;
const index = fakeVectorize({ dimensions, immediate: true });

export class FakeAi extends WorkerEntrypoint {
  async run(_model: string, { text }: { readonly text: readonly string[] }): Promise<unknown> {
    return { shape: [text.length, dimensions], data: text.map(vectorOf) };
  }
}

export class FakeVectorize extends WorkerEntrypoint {
  upsert(entries: VectorizeEntry[]): Promise<unknown> {
    return index.upsert(entries);
  }

  query(vector: number[], options: VectorizeQuery): Promise<unknown> {
    return index.query(vector, options);
  }

  getByIds(ids: string[]): Promise<unknown> {
    return index.getByIds(ids);
  }

  deleteByIds(ids: string[]): Promise<unknown> {
    return index.deleteByIds(ids);
  }
}

/** Returns a vector that is near those of texts with a common word. */
function vectorOf(text: string): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}{4,}/gu) ?? []) {
    let place = 7;
    for (const letter of word) place = (place * 31 + (letter.codePointAt(0) ?? 0)) % dimensions;
    vector[place] = 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

export default { fetch: (): Response => new Response('only bindings are served', { status: 404 }) };
