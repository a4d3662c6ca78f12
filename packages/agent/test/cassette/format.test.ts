import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstDifference } from '../../src/cassette/difference.ts';
import { readCassette } from '../../src/cassette/format.ts';
import { askedOf, outLine } from '../../src/cassette/outgoing.ts';
import type { MockReply } from '../../src/testing/index.ts';
import { callBlock, replies, scriptResponse } from '../../src/testing/index.ts';
import type { Json, JsonObject } from '../../src/values/json.ts';
import type { Scene } from './rig.ts';
import { record, replay, turn } from './rig.ts';

function working(turns: number): Scene {
  const calls = (index: number): MockReply =>
    replies(scriptResponse([`${index}`, callBlock(`c${index}`, 'look', { index })]));
  return {
    script: [
      ...Array.from({ length: turns }, (_, index) => calls(index)),
      replies(scriptResponse(['Done.'])),
    ],
    tools: () => [
      {
        name: 'look',
        description: 'Looks.',
        parameters: { type: 'object' },
        execute: () => turn().then(() => 'y'.repeat(1000)),
      },
    ],
    options: { limits: { turns: turns + 1 } },
  };
}

describe('a cassette file', () => {
  test('consists of JSON lines: a header, the requests, and the inputs with their times', async () => {
    const { cassette } = await record(working(1));
    const lines = cassette
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({
      cassette: 1,
      recorded: expect.stringMatching(/^2026-09-21T14:13:2\d\.\d{3}Z$/),
    });
    expect(lines.find((line) => line.out === 'request 1')).toMatchObject({
      what: { POST: '/ask', model: 'scripted-model', turns: [{ side: 'user' }] },
    });
    expect(lines.find((line) => line.in === 'request 1')).toMatchObject({
      at: expect.any(Number),
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
    });
    expect(lines.find((line) => line.out === 'tool 1')).toMatchObject({
      what: { tool: 'look', arguments: { index: 0 } },
    });
    expect(lines.find((line) => line.in === 'tool 1')).toMatchObject({ value: 'y'.repeat(1000) });
    const moments = lines.flatMap((line) => line.at ?? []);
    expect(moments).toEqual(moments.toSorted((one, later) => one - later));
  });

  test('contains each part of a conversation once, however long it grows', async () => {
    const [short, long] = [await record(working(10)), await record(working(40))];
    expect(long.cassette.length / short.cassette.length).toBeLessThan(4.2);
    expect((await replay(working(40), long.cassette)).log).toBe(long.log);
  });

  test('contains the hash of an image, not the image', async () => {
    const data = btoa('picture'.repeat(1000));
    const scene: Scene = {
      script: [replies(scriptResponse(['A cat.']))],
      prompt: [{ type: 'file', mediaType: 'image/png', data }] as never,
    };
    const { cassette, log } = await record(scene);
    expect(cassette).not.toContain(data.slice(0, 100));
    expect(cassette).toMatch(/\(9336 characters of base64, sha256 [0-9a-f]{64}\)/);
    expect((await replay(scene, cassette)).log).toBe(log);
    const other = [{ type: 'file', mediaType: 'image/png', data: btoa('another'.repeat(1000)) }] as never;
    expect((await replay({ ...scene, prompt: other }, cassette)).result.error?.code).toBe('replay_miss');
  });

  test('keeps tool arguments that look like a file part of an earlier version', () => {
    const what = { tool: 'look', arguments: { type: 'image', mediaType: 'image/png', data: 'AA==' } };
    const head = { cassette: 1, recorded: '2026-01-01T00:00:00.000Z', startedAt: 1 };
    const text = [head, { out: 'tool 1', what }].map((line) => JSON.stringify(line)).join('\n');
    expect(readCassette(text).asked).toEqual([{ name: 'tool 1', content: what }]);
  });

  test('is replayed if an earlier version wrote it, with other part types for files', async () => {
    const image = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
    const scene: Scene = {
      script: [replies(scriptResponse(['A cat.']))],
      prompt: [image] as never,
    };
    const { cassette, log } = await record(scene);
    const earlier = cassette.replaceAll('{"type":"file",', '{"type":"image",');
    expect(earlier).not.toBe(cassette);
    expect((await replay(scene, earlier)).log).toBe(log);
  });

  test('restores a request from the fields it shares with an earlier one, for any two requests', () => {
    const contents = fc.dictionary(fc.constantFrom('a', 'b', 'same', 'first'), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(contents, contents, fc.boolean(), (earlier, now, grows) => {
        const before = { name: 'request 1', content: asJson(earlier) };
        const content = asJson(grows ? { ...earlier, ...now } : now);
        const line = asJson(outLine({ name: 'request 2', content }, before));
        expect(askedOf(line, new Map([[before.name, before.content]]))).toEqual(content);
      }),
    );
  });

  test('firstDifference finds a difference if and only if there is one', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const same = JSON.parse(JSON.stringify(one)) as Json;
        expect(firstDifference(one as Json, same)).toBeUndefined();
        const isEqual =
          fc.stringify(sorted(same)) === fc.stringify(sorted(JSON.parse(JSON.stringify(other))));
        expect(firstDifference(same, JSON.parse(JSON.stringify(other))) === undefined).toBe(isEqual);
      }),
    );
  });
});

function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.keys(value)
    .sort()
    .map((name): Json => [name, sorted(value[name] ?? null)])
    .concat([['object']]);
}
