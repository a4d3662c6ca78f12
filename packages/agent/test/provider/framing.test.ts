import { describe, expect, test } from 'vitest';
import type { BodyReader } from '../../src/provider/wire/framing.ts';
import { NdjsonFramer, SseFramer } from '../../src/provider/wire/framing.ts';
import { MalformedPayload } from '../../src/provider/wire/payload.ts';
import { seededRandom } from '../../src/testing/service/seeded-random.ts';
import { maxFrameBytes } from '../../src/values/line-text.ts';

const encoder = new TextEncoder();

/** Returns the payloads of the text, which is pushed in chunks of `size` bytes. */
function payloads(framer: BodyReader, text: string | Uint8Array, size = Number.POSITIVE_INFINITY): unknown[] {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const found: unknown[] = [];
  const sink = { payload: (payload: unknown) => found.push(payload) };
  for (let at = 0; at < bytes.length; at += size) framer.push(bytes.subarray(at, at + size), sink);
  framer.end(sink);
  return found;
}

const ignores = { payload: () => {} };

const sse = (text: string | Uint8Array, size?: number) => payloads(new SseFramer(), text, size);
const ndjson = (text: string | Uint8Array, size?: number) => payloads(new NdjsonFramer(), text, size);

describe('server-sent events', () => {
  test('the data of each event is parsed', () => {
    expect(sse('data: {"a":1}\n\ndata:{"b":2}\n\n')).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test('event names, ids, retry times and comments are ignored', () => {
    expect(
      sse(': hi\nevent: x\nid: 7\nretry: 10\nid\nevent\nretry\ndata: {"a":1}\n\n: ping\n\nevent:y\n\n'),
    ).toEqual([{ a: 1 }]);
  });

  test.each(['foo', 'x: y', 'dat: {}', ' data: {}', 'DATA: 1', 'data\0: 1', '{"error":{}}', 'eventual: 1'])(
    'the line %j, which is no field, is malformed, not dropped [P27]',
    (line) => {
      const [first, second] = sse(`${line}\ndata: {"a":1}\n\n`);
      expect(first).toEqual(new MalformedPayload(line));
      expect(second).toEqual({ a: 1 });
    },
  );

  test('an error that says nothing is malformed, not dropped [P27]', () => {
    for (const event of ['event: error\n\n', 'event:error\n\n', 'event: error\ndata: {}\n\n'])
      expect(sse(`${event}data: 1\n\n`)).toEqual([expect.any(MalformedPayload), 1]);
    expect(sse('event: error\ndata: {"error":"No."}\n\n')).toEqual([{ error: 'No.' }]);
    expect(sse('event: errors\n\n')).toEqual([]);
  });

  test('bytes that are not UTF-8 are an error, and a replacement character is not [P27]', () => {
    expect(() =>
      sse(Uint8Array.from([...encoder.encode('data: "a'), 0xff, ...encoder.encode('"\n\n')])),
    ).toThrow(TypeError);
    expect(sse('data: "\ufffd"\n\n')).toEqual(['\ufffd']);
  });

  test('several data lines are one payload joined by line feeds [P1]', () => {
    expect(sse('data: {"a":\ndata: 1}\n\n')).toEqual([{ a: 1 }]);
    expect(sse('data: two\ndata\ndata: lines\n\n')).toEqual(['two\n\nlines']);
  });

  test('text that does not start like JSON is returned unchanged', () => {
    expect(sse('data: [DONE]\n\ndata: bye\n\ndata: 7\n\n')).toEqual(['[DONE]', 'bye', 7]);
  });

  test('data that starts like JSON but is invalid is malformed, not dropped [P1]', () => {
    const found = sse('data: {"a":1\n\ndata: [1,\n\n');
    expect(found).toHaveLength(2);
    expect(found.every((payload) => payload instanceof MalformedPayload)).toBe(true);
  });

  test('the end of the body completes an event without its last blank line [P1]', () => {
    expect(sse('data: {"a":1}')).toEqual([{ a: 1 }]);
    expect(sse('data: {"a":1}\n')).toEqual([{ a: 1 }]);
  });

  test.each([
    ['LF', '\n'],
    ['CR LF', '\r\n'],
    ['CR', '\r'],
  ])('lines can end with %s, wherever the chunks are split [P1]', (_name, end) => {
    const text = `\ufeffdata: {"a":${end}data: "ä€😀"}${end}${end}: c${end}data: 2${end}${end}`;
    for (let size = 1; size < 20; size += 1) expect(sse(text, size)).toEqual([{ a: 'ä€😀' }, 2]);
  });

  test.each(['\n\n', '\r\n\r\n', '\r\r'])('an event that ends with %j is returned immediately', (end) => {
    const found: unknown[] = [];
    new SseFramer().push(encoder.encode(`data: 1${end}`), { payload: (payload) => found.push(payload) });
    expect(found).toEqual([1]);
  });

  test('a mixed stream has the same payloads with any seeded chunk size [P1]', () => {
    const random = seededRandom(7);
    const text = Array.from({ length: 60 }, (_, index) => {
      const data = JSON.stringify({ index, text: '€ "\u2028\\ 𝄞'.repeat(index % 7) });
      return `${random.chance(0.3) ? ': ping\r\n\r\n' : ''}data: ${data}${random.pick(['\n\n', '\r\n\r\n', '\r\r'])}`;
    }).join('');
    const whole = sse(text);
    expect(whole).toHaveLength(60);
    for (let round = 0; round < 50; round += 1) expect(sse(text, random.between(1, 90))).toEqual(whole);
  });

  test('a byte order mark is removed only at the start of the stream [P1]', () => {
    expect(sse('\ufeffdata: "\ufeffa"\n\n', 3)).toEqual(['\ufeffa']);
  });

  test('a line without an end fails at the size limit [P1, P29]', () => {
    const framer = new SseFramer();
    const chunk = encoder.encode('x'.repeat(1024 * 1024));
    expect(() => {
      for (let sent = 0; sent <= maxFrameBytes; sent += chunk.length) framer.push(chunk, ignores);
    }).toThrow(/16777216 bytes/);
  });

  test('data lines without an end fail at the size limit [P1]', () => {
    const framer = new SseFramer();
    const chunk = encoder.encode(`data: ${'x'.repeat(1024 * 1024)}\n`);
    expect(() => {
      for (let sent = 0; sent <= maxFrameBytes; sent += chunk.length) framer.push(chunk, ignores);
    }).toThrow(/16777216 bytes/);
  });
});

describe('newline-delimited JSON', () => {
  test('each line is a payload, except blank lines', () => {
    expect(ndjson('{"a":1}\n\n  \n[2]\r\n"x"')).toEqual([{ a: 1 }, [2], 'x']);
  });

  test('lines can be split anywhere', () => {
    for (let size = 1; size < 12; size += 1) {
      expect(ndjson('{"a":"€"}\n{"b":"😀"}\n', size)).toEqual([{ a: '€' }, { b: '😀' }]);
    }
  });

  test('a line that is not JSON is malformed [P1]', () => {
    expect(ndjson('oops\n')[0]).toBeInstanceOf(MalformedPayload);
  });
});
