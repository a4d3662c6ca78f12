import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@cobbler/agent/node';
import { answered, eventsOf } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { costs } from '../../src/commands/costs.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The middle of a day and of a month in every time zone. */
const now = Date.parse('2026-06-16T12:00:00.000Z');
const dayMs = 86_400_000;

interface Paid {
  readonly daysAgo: number;
  readonly usd?: number;
  readonly model?: string;
  readonly session?: string;
}

/** Creates a home with a session for each response, and runs the command. */
async function costsOf(
  paid: readonly Paid[],
  options: Record<string, unknown> = {},
  file = 'sessions.db',
): Promise<{ out: string; err: string; home: string }> {
  const home = temporaryFolder();
  if (paid.length > 0) {
    const store = sqliteStore(join(home, file));
    for (const [index, { daysAgo, session = `session-${index}`, ...rest }] of paid.entries()) {
      const epoch = await store.claim(session);
      const time = new Date(now - daysAgo * dayMs).toISOString();
      const [event] = eventsOf(session, [answered('Done.', rest)]);
      if (event !== undefined) await store.append(session, [{ ...event, time }], { epoch, release: true });
    }
    await store.close();
  }
  const io = fakeIo({ env: { COBBLER_HOME: home, NO_COLOR: '1' }, cwd: home });
  expect(await costs(options, io, now)).toBe(0);
  return { out: io.stdout.text(), err: io.stderr.text(), home };
}

const lines = (text: string) => text.trimEnd().split('\n');

describe('cobbler costs', () => {
  test('prints a table by day with a total and a forecast', async () => {
    const { out } = await costsOf([
      { daysAgo: 4, usd: 1 },
      { daysAgo: 2, usd: 2.5 },
      { daysAgo: 2, usd: 0.5 },
      { daysAgo: 40, usd: 99 },
    ]);
    expect(lines(out)).toEqual([
      'day         requests  input  cached  output   cost',
      '2026-06-12         1    100      0%      20  $1.00',
      '2026-06-14         2    200      0%      40  $3.00',
      'total              3    300      0%      60  $4.00',
      '',
      expect.stringMatching(/^At this pace: \$1[89] by the end of June\.$/),
    ]);
  });

  test('counts requests without a price, and never shows them as free', async () => {
    const { out } = await costsOf(
      [
        { daysAgo: 3, usd: 6, model: 'known' },
        { daysAgo: 3, model: 'known' },
        { daysAgo: 3, model: 'new' },
      ],
      { by: 'model' },
    );
    expect(lines(out)).toEqual([
      'model  requests  input  cached  output                cost',
      'known         2    200      0%      40  $6.00 + 1 unpriced',
      'new           1    100      0%      20         unknown (1)',
      'total         3    300      0%      60  $6.00 + 2 unpriced',
      '',
      expect.stringMatching(/^At this pace: at least \$3[456] by the end of June\.$/),
    ]);
  });

  test('forecasts nothing from less than a day, or from nothing', async () => {
    expect((await costsOf([{ daysAgo: 0.9, usd: 1 }])).out).not.toContain('At this pace');
    expect((await costsOf([{ daysAgo: 3, usd: 1 }], { since: '12h' })).out).toBe('');
    expect((await costsOf([{ daysAgo: 3, usd: 0 }])).out).not.toContain('At this pace');
    expect((await costsOf([{ daysAgo: 1.1, usd: 1 }])).out).toContain('At this pace');
  });

  test('limits the table and keeps the total', async () => {
    const paid = [1, 2, 3, 4].map((usd) => ({ daysAgo: 0.5, usd, session: `session-${usd}` }));
    const { out } = await costsOf(paid, { by: 'session', limit: '2' });
    expect(
      lines(out).map((line) =>
        line.split(/\s{2,}/).filter((cell) => /^\D*(session-)?\d more|sess|^\$|tot/.test(cell)),
      ),
    ).toEqual([
      ['session'],
      ['session-4', '$4.00'],
      ['session-3', '$3.00'],
      ['2 more', '$3.00'],
      ['total', '$10.00'],
    ]);
  });

  test('prints JSON and CSV with exact values', async () => {
    const paid = [{ daysAgo: 4, usd: 0.125, model: 'a, "b"' }];
    const { out } = await costsOf(paid, { by: 'model', json: true, since: 'all' });
    expect(JSON.parse(out)).toMatchObject({
      by: 'model',
      since: '1970-01-01T00:00:00.000Z',
      rows: [{ key: 'a, "b"', requests: 1, usd: 0.125, first: '2026-06-12T12:00:00.000Z' }],
      total: { requests: 1, usd: 0.125, unpriced: 0 },
      forecast: { isMinimum: false },
    });
    expect(lines((await costsOf(paid, { by: 'model', csv: true })).out)).toEqual([
      'model,requests,unpriced,usd,inputTokens,outputTokens,cacheReadTokens,cacheWriteTokens,reasoningTokens,wastedTokens',
      '"a, ""b""",1,0,0.125,100,20,0,0,0,0',
    ]);
  });

  test('reads the sessions of the server with --server, and creates no file', async () => {
    expect((await costsOf([{ daysAgo: 1, usd: 2 }], { server: true }, 'server.db')).out).toContain('$2.00');
    const { err, home } = await costsOf([]);
    expect(err).toBe('No costs in this period.\n');
    expect(existsSync(join(home, 'sessions.db'))).toBe(false);
  });

  test.each([
    [{ by: 'sesion' }, 'Did you mean session?'],
    [{ since: 'monday' }, '--since cannot be "monday"'],
    [{ limit: '-1' }, '--limit cannot be "-1"'],
    [{ json: true, csv: true }, 'cannot be used together'],
  ])('rejects %j', async (options, message) => {
    await expect(costsOf([], options)).rejects.toThrow(message);
  });

  test('deletes the costs before a day, and keeps the sessions', async () => {
    const paid = [
      { daysAgo: 9, usd: 1 },
      { daysAgo: 1, usd: 2 },
    ];
    const { err, home } = await costsOf(paid, { deleteBefore: '2026-06-10' });
    expect(err).toBe('Deleted the costs of 1 request from before 2026-06-10. The sessions remain.\n');
    const store = sqliteStore(join(home, 'sessions.db'));
    expect((await store.costs?.({ by: 'day' }))?.map(({ usd }) => usd)).toEqual([2]);
    expect(await store.sessions()).toHaveLength(2);
    await store.close();
    for (const deleteBefore of ['yesterday', '2026-13-01'])
      await expect(costs({ deleteBefore }, fakeIo({ env: { COBBLER_HOME: home } }), now)).rejects.toThrow(
        '--delete-before',
      );
  });
});
