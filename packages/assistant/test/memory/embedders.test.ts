import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { workersAiEmbedder } from '../../src/cloudflare/workers-ai-embedder.ts';
import { embedderFrom } from '../../src/memory/embedder-from.ts';
import { httpEmbedder } from '../../src/memory/http-embedder.ts';
import { lexicalEmbedder } from '../../src/memory/lexical-embedder.ts';
import { bytesOf, cosine, vectorIn } from '../../src/memory/vector.ts';

async function likeness(one: string, other: string): Promise<number> {
  const [a = new Float32Array(), b = new Float32Array()] = await lexicalEmbedder().embed(
    [one, other],
    'query',
  );
  return cosine(a, b);
}

describe('the lexical embedder', () => {
  const { floor } = lexicalEmbedder();

  it('always returns the same vector for a text, ignoring case and punctuation', async () => {
    const [vector = new Float32Array()] = await lexicalEmbedder().embed(['My cello'], 'document');
    const places = [...vector.entries()].filter(([, value]) => value !== 0).map(([place]) => place);
    expect(places).toMatchInlineSnapshot(`
      [
        60,
        90,
        136,
        144,
        302,
        398,
        502,
        770,
        894,
        990,
        1196,
        1419,
      ]
    `);
    expect(await likeness('My cello', 'my CELLO!')).toBeCloseTo(1, 5);
  });

  it('recognizes inflected forms, accents and parts of words', async () => {
    for (const [one, other] of [
      ['tomato', 'tomatoes'],
      ['Das Café', 'the cafe'],
      ['Krimi', 'Krimis'],
      ['STRASSE', 'Straße'],
      ['veterinarian', 'veterinario'],
      ['世界地図', '新しい世界地図'],
    ] as const)
      expect(await likeness(one, other), `${one} and ${other}`).toBeGreaterThan(floor);
  });

  it('finds no similarity between texts that share only function words or nothing', async () => {
    for (const [one, other] of [
      ['What is the time of it?', 'This is the one that you have'],
      ['Wie geht es dir?', 'Es ist, wie es ist'],
      ['', 'anything'],
      ['!?', '🙂'],
    ] as const)
      expect(await likeness(one, other), `${one} and ${other}`).toBe(0);
  });

  it('scores texts that are related only by meaning below its floor', async () => {
    expect(await likeness('Which car do I own?', 'The user drives a Volvo.')).toBeLessThan(floor);
  });
});

describe('embedders made from a function', () => {
  it('send texts in batches and return vectors in order', async () => {
    const portions: number[] = [];
    const embedder = embedderFrom({
      ...{ name: 'own', dimensions: 1, floor: 0, maxAtOnce: 2 },
      async embed(texts) {
        portions.push(texts.length);
        return texts.map((text) => [Number(text)]);
      },
    });
    const vectors = await embedder.embed(['1', '2', '3', '4', '5'], 'document');
    expect(vectors.map(([value]) => value)).toEqual([1, 2, 3, 4, 5]);
    expect(portions).toEqual([2, 2, 1]);
  });

  it('reject with an AgentError if vectors are missing or the function fails', async () => {
    const base = { name: 'own', dimensions: 1, floor: 0 };
    const few = embedderFrom({ ...base, embed: async () => [] });
    await expect(few.embed(['a'], 'query')).rejects.toMatchObject({ code: 'embedding' });
    const broken = embedderFrom({ ...base, embed: () => Promise.reject(new Error('no')) });
    await expect(broken.embed(['a'], 'query')).rejects.toMatchObject({ kind: 'agent', message: 'no' });
  });

  it('can use Workers AI, and require the dimensions of an unknown model [S3.12]', async () => {
    const asked: unknown[] = [];
    const ai = {
      async run(model: string, input: { text: string[] }) {
        asked.push([model, input.text.length]);
        return { shape: [input.text.length, 1024], data: input.text.map(() => Array(1024).fill(0.5)) };
      },
    };
    const embedder = workersAiEmbedder({ ai });
    expect([embedder.name, embedder.dimensions]).toEqual(['workers-ai:@cf/baai/bge-m3', 1024]);
    expect(await embedder.embed(Array(101).fill('a'), 'document')).toHaveLength(101);
    expect(asked).toEqual([
      ['@cf/baai/bge-m3', 100],
      ['@cf/baai/bge-m3', 1],
    ]);
    expect(() => workersAiEmbedder({ ai, model: 'other' })).toThrow(/the number of dimensions/);
    expect(workersAiEmbedder({ ai, model: 'other', dimensions: 3, floor: 0.4 }).floor).toBe(0.4);
    const odd = workersAiEmbedder({ ai: { run: async () => ({ error: 'x' }) } });
    await expect(odd.embed(['a'], 'query')).rejects.toMatchObject({ code: 'embedding' });
  });
});

describe('embeddings over HTTP', () => {
  const options = {
    baseURL: 'https://api.invalid/v1/',
    apiKey: 'secret-key',
    model: 'small',
    dimensions: 2,
    floor: 0.3,
  };
  const answering = (answer: () => Response | Promise<Response>) => {
    const requests: [string, RequestInit | undefined][] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      requests.push([String(url), init]);
      return answer();
    };
    return { requests, embedder: httpEmbedder({ ...options, runtime: { ...fakeRuntime(), fetch } }) };
  };

  it('return vectors in the order of the texts, regardless of the response order', async () => {
    const data = [
      { index: 1, embedding: [0, 1] },
      { index: 0, embedding: [1, 0] },
    ];
    const { requests, embedder } = answering(() => Response.json({ data }));
    const vectors = await embedder.embed(['a', 'b'], 'query');
    expect(vectors.map((vector) => [...vector])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(requests[0]?.[0]).toBe('https://api.invalid/v1/embeddings');
    expect(JSON.parse(String(requests[0]?.[1]?.body))).toMatchObject({ model: 'small', input: ['a', 'b'] });
  });

  it('fail with the matching error kind and never reveal the API key', async () => {
    for (const [status, kind, retryable] of [
      [401, 'auth', false],
      [429, 'rate_limit', true],
      [400, 'invalid', false],
      [503, 'agent', true],
    ] as const) {
      const { embedder } = answering(() => new Response('your key secret-key is bad', { status }));
      const error: unknown = await embedder.embed(['a'], 'query').catch((thrown) => thrown);
      expect(error).toMatchObject({ kind, retryable, status });
      expect(JSON.stringify(error)).not.toContain('secret-key');
    }
    const cut = answering(() => Promise.reject(new TypeError('fetch failed')));
    await expect(cut.embedder.embed(['a'], 'query')).rejects.toMatchObject({
      kind: 'network',
      retryable: true,
    });
    const odd = answering(() => Response.json({ data: [{ embedding: 'x' }] }));
    await expect(odd.embedder.embed(['a'], 'query')).rejects.toMatchObject({ code: 'embedding' });
  });
});

describe('vectors', () => {
  it('are restored from their bytes at any offset of the buffer', () => {
    const vector = Float32Array.of(0.5, -1, 3.25, 1e-8);
    const bytes = bytesOf(vector);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(vectorIn(bytes)).toEqual(vector);
    expect(vectorIn(shifted.subarray(1))).toEqual(vector);
  });
});
