import type { EventBody } from '@cobbler/agent/events';
import { itemsOf } from '@cobbler/agent/events';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, test, vi } from 'vitest';
import { wordsFor } from '../src/app/parts/announcer.tsx';
import { messageOf, textFile } from '../src/app/parts/attachments.tsx';
import { ago, duration, money, share, size, tokens } from '../src/app/parts/format.ts';
import { outcomeOf, subjectOf } from '../src/app/session/call-text.ts';
import { changesIn } from '../src/app/session/changes.ts';
import { readDiff } from '../src/app/session/diff.ts';
import { EventConnection, SseReader } from '../src/app/session/event-line.ts';
import { addressOf, parseRoute, tokenIn } from '../src/app/session/route.ts';
import { transcriptOf } from '../src/app/session/transcript-text.ts';
import { totalsOf, turnsIn } from '../src/app/session/turns.ts';
import { stableLength } from '../src/app/transcript/prose.tsx';
import { answered, asked, call, gave, log, placed, said, text } from './story.ts';

describe('the event stream', () => {
  test('yields the same frames however its bytes are split', () => {
    const told = ['{"a":1}', '{"b":"ü🧵"}', '{"c":3}'];
    const bytes = new TextEncoder().encode(
      `retry: 1000\n: heartbeat\n\n${told.map((data, id) => `id: ${id}\ndata: ${data}\n\n`).join('')}`,
    );
    const random = seededRandom(1);
    for (let round = 0; round < 200; round += 1) {
      const reader = new SseReader();
      const frames: string[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + Math.floor(random.next() * 12);
        frames.push(...reader.push(bytes.subarray(at, end)));
        at = end;
      }
      expect(frames).toEqual(told);
    }
  });

  test('does not yield an incomplete frame', () => {
    expect(new SseReader().push(new TextEncoder().encode('data: {"a":1}\n'))).toEqual([]);
  });

  test.each(['data: 123456789', 'data: 1234\ndata: 56789\n'])(
    'rejects a frame that is too large: %j',
    (text) => {
      const reader = new SseReader(8);
      expect(reader.push(new TextEncoder().encode('data: 12345\n\n'))).toEqual(['12345']);
      expect(() => reader.push(new TextEncoder().encode(text))).toThrow('too large');
    },
  );

  test('skips frames that are not JSON objects and reads on', async () => {
    const lines = ['{"type":"hello"}', '{"type"', 'null', '[1]', '"text"', '{"type":"user","seq":1}'];
    const body = lines.map((line) => `data: ${line}\n\n`).join('');
    vi.stubGlobal('localStorage', { getItem: () => null });
    vi.stubGlobal('fetch', async () => new Response(body));
    const frames: unknown[] = [];
    const lost = await new Promise((resolve) => {
      const connection = new EventConnection({
        sessionId: 'one',
        position: () => 0,
        onFrame: (frame) => {
          frames.push(frame);
          return true;
        },
        onChunkEnd: () => frames.push('chunk'),
        onLost: (reason) => {
          connection.end();
          resolve(reason);
        },
      });
    });
    vi.unstubAllGlobals();
    expect(frames).toEqual([{ type: 'hello' }, { type: 'user', seq: 1 }, 'chunk']);
    expect(lost).toMatchObject({ code: 'cut' });
  });
});

describe('diffs', () => {
  const diff =
    '--- a/x.js\n+++ b/x.js\n@@ -1,3 +1,3 @@\n one\n--- two\n+++ three\n four\n@@ -9 +9,2 @@ f()\n-nine\n+nine!\n+ten\n\\ No newline at end of file\n';

  test('are parsed with line numbers, including lines that look like a heading', () => {
    const [file, ...others] = readDiff(diff);
    expect(others).toEqual([]);
    expect(file).toMatchObject({ path: 'x.js', added: 3, removed: 2 });
    expect(file?.lines[1]).toEqual({ kind: 'removed', text: '-- two', before: 2 });
    expect(file?.lines[2]).toEqual({ kind: 'added', text: '++ three', after: 2 });
    expect(file?.lines[4]).toEqual({ kind: 'gap', text: 'f()' });
    expect(file?.lines[5]).toEqual({ kind: 'removed', text: 'nine', before: 9 });
  });

  test('name a new or deleted file', () => {
    const made = readDiff('--- /dev/null\n+++ b/new.js\n@@ -0,0 +1 @@\n+one\n');
    const gone = readDiff('--- a/old.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n');
    expect([made[0]?.path, gone[0]?.path]).toEqual(['new.js', 'old.js']);
  });

  test('are combined by file for a session, without those of failed calls', () => {
    const view = itemsOf(
      log(
        said('go'),
        answered(call('a'), call('b'), call('c')),
        gave(1, 0, { diff }),
        gave(1, 1, { diff }),
        gave(1, 2, { diff, isError: true }),
      ),
    );
    expect(changesIn(view.items)).toMatchObject([
      { path: 'x.js', added: 6, removed: 4, changes: [{ seq: 3 }, { seq: 4 }] },
    ]);
  });
});

describe('text and numbers', () => {
  test('amounts are short and rounded correctly', () => {
    expect([0, 999, 1_000, 12_345, 99_960, 999_499, 999_500, 2_500_000].map(tokens)).toEqual([
      '0',
      '999',
      '1k',
      '12.3k',
      '100k',
      '999k',
      '1M',
      '2.5M',
    ]);
    expect([0, 0.00001, 0.0042, 0.0123, 3.456].map(money)).toEqual([
      '$0',
      '<$0.0001',
      '$0.0042',
      '$0.012',
      '$3.46',
    ]);
    expect([12, 3_400, 59_960, 60_000, 125_000, 3_840_000].map(duration)).toEqual([
      '12 ms',
      '3.4 s',
      '1 min',
      '1 min',
      '2 min 5 s',
      '1 h 4 min',
    ]);
    expect([share(3, 4), share(0, 0), size(999), size(1_500)]).toEqual(['75%', '0%', '999 B', '1.5 KB']);
    const now = Date.parse('2026-01-02T00:00:00Z');
    expect(
      ['2026-01-01T23:59:30Z', '2026-01-01T23:55:00Z', '2026-01-01T20:00:00Z', '2025-12-30T00:00:00Z'].map(
        (time) => ago(time, now),
      ),
    ).toEqual(['now', '5 min', '4 h', '3 d']);
  });

  test('a call is named by its main argument', () => {
    const of = (given: Record<string, unknown>) => {
      const part = call('a', given);
      return part.type === 'tool_call' ? subjectOf({ turn: 1, index: 0, part }) : '';
    };
    expect([of({ old: 'x', path: 'a.js' }), of({ n: 1, other: 'first' }), of({ n: 1 })]).toEqual([
      'a.js',
      'first',
      '',
    ]);
    expect(of({ agent: 'explore', task: 'find it' })).toBe('explore: find it');
  });

  test('a call is not named by what a sub-agent asks about', () => {
    const part = { type: 'tool_call', id: 'a', toolName: 'agent', arguments: { id: 'as-1' } } as const;
    const answer = itemsOf(
      log(said('go'), answered(part), { ...asked(1), toolName: 'write_file', subject: 'a.js' } as EventBody),
    ).items[1];
    expect(answer?.kind === 'response' && answer.calls.map(subjectOf)).toEqual(['as-1']);
  });

  test('the outcome of a call is the summary of its result', () => {
    const view = itemsOf(log(said('go'), answered(call('a')), gave(1, 0, { summary: 'exit 1' })));
    const answer = view.items[1];
    expect(answer?.kind === 'response' && answer.calls.map(outcomeOf)).toEqual(['exit 1']);
  });

  test('an address contains a session and an event, and a token only in its fragment', () => {
    const place = { sessionId: 'a:b', seq: 42 };
    const [pathname = '', hash = ''] = addressOf(place).split('#');
    expect(parseRoute({ pathname, hash: `#${hash}` })).toEqual(place);
    expect(parseRoute({ pathname: '/', hash: '' })).toEqual({});
    expect(parseRoute({ pathname: addressOf({ isCosts: true }), hash: '' })).toEqual({ isCosts: true });
    expect([tokenIn({ hash: '#token=cbk_1' }), tokenIn({ hash: '#e42' })]).toEqual(['cbk_1', undefined]);
  });

  test('a screen reader announces responses, but not user messages', () => {
    expect(wordsFor(placed(answered(text('Done.')), 1))).toBe('Response: Done.');
    expect(wordsFor(placed(said('go'), 1))).toBe('');
  });

  test('a copied conversation puts output into a fence that the output cannot close', () => {
    const view = itemsOf(
      log(
        said('go'),
        answered(text('Look.'), call('a', { command: 'ls' })),
        gave(1, 0, { content: [{ type: 'text', text: '```\nx' }] }),
      ),
    );
    expect(transcriptOf('T', view.items)).toBe(
      '# T\n\n## You\n\ngo\n\nLook.\n\n**run_command** `ls` \n\n````\n```\nx\n````\n',
    );
  });
});

describe('attachments', () => {
  test('are separate from what the user typed, also those of a chat in the terminal', () => {
    const image = { type: 'file', mediaType: 'image/png', data: 'AAAA' } as const;
    const note = { type: 'text', text: '<attachment name="to-do list">\n[ ] x\n</attachment>' } as const;
    const file = textFile('notes: all.txt', 'hello');
    const typed = (text: string) => ({ type: 'text', text }) as const;
    expect(messageOf([image, file, note, typed('some\ntext'), typed('File it:')])).toEqual({
      text: 'some\ntext\n\nFile it:',
      attached: [image, file, note],
    });
  });
});

describe('the usage of turns', () => {
  test('is summed, and the sum is partial if a price is unknown', () => {
    const { usd: _, ...unpriced } = answered(text('b')) as Extract<
      ReturnType<typeof answered>,
      { type: 'assistant' }
    >;
    const spent = {
      usage: { inputTokens: 5, outputTokens: 1 },
      wasted: { inputTokens: 0, outputTokens: 0 },
      attempts: 1,
      durationMs: 2,
      usd: 0.5,
    };
    const view = itemsOf(
      log(said('go'), answered(text('a')), unpriced, { type: 'compacted', upTo: 1, summary: 's', spent }),
    );
    const turns = turnsIn(view);
    expect(turns.map(({ name, seq }) => [name, seq])).toEqual([
      ['1', 2],
      ['2', 3],
      ['compaction', 4],
    ]);
    expect(totalsOf(view.paid)).toMatchObject({
      usage: { inputTokens: 205, outputTokens: 41 },
      usd: 0.51,
      isPartial: true,
    });
  });

  test('includes what the calls spent', () => {
    const wasted = { inputTokens: 0, outputTokens: 0 };
    const spent = {
      usage: { inputTokens: 5, outputTokens: 1 },
      wasted,
      attempts: 1,
      durationMs: 0,
      usd: 0.5,
    };
    const view = itemsOf(
      log(said('go'), answered(text('a')), { type: 'spent', who: 'agent', model: 'm', spent }),
    );
    expect(turnsIn(view).map(({ name, model }) => [name, model])).toEqual([
      ['1', 'm'],
      ['agent', 'm'],
    ]);
    expect(totalsOf(view.paid)).toMatchObject({ usage: { inputTokens: 105, outputTokens: 21 }, usd: 0.51 });
  });

  test('includes failed requests, such as those of a cancelled run', () => {
    const wasted = { inputTokens: 90, outputTokens: 7 };
    const failed = (more: object, usd?: number) =>
      ({
        type: 'ask_failed',
        error: { kind: 'aborted', message: 'Cancelled.', ...more },
        durationMs: 1,
        ...(usd !== undefined && { usd }),
      }) as const;
    const totals = (...events: ReturnType<typeof failed>[]) =>
      totalsOf(itemsOf(log(said('go'), answered(text('a')), ...events)).paid);
    const [priced, free] = [failed({ wasted }, 0.25), failed({})];
    expect(totals(priced, free)).toMatchObject({ wasted, usd: 0.26, isPartial: false });
    expect(totals(failed({ wasted }))).toMatchObject({ wasted, usd: 0.01, isPartial: true });
  });
});

describe('streamed text', () => {
  test('is split only after an empty line outside of code and lists', () => {
    expect(stableLength('one\n\ntwo')).toBe(5);
    expect(stableLength('one\n\n- two\n\n- three')).toBe(0);
    expect(stableLength('one\n\n```\ncode\n\nmore')).toBe(5);
    expect(stableLength('a\n\n```\ncode\n\nmore\n```\n\nend')).toBe(23);
  });
});
