import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Rig } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';
import { attacked, attacks, connectAndDrop, slowAttacks, stalledReader } from './attacks.ts';

const target = ({ server, token }: Rig) => ({ url: server.url, token });

describe('bad requests [P15]', () => {
  test.each(attacks)('$name: $expected', async (attack) => {
    const one = await rig();
    await one.ask('POST', '/v1/sessions', { id: 'honest' });
    expect(await attacked(target(one), attack)).toBe(attack.expected);
    expect((await one.ask('GET', '/v1/sessions/honest')).json['status']).toBe('new');
  });
});

const descriptors = () => readdirSync('/proc/self/fd').length;

// Descriptors are counted in /proc, which only Linux has.
test.skipIf(process.platform !== 'linux')(
  'the server answers all attacks at once, serves an honest client and leaves nothing open (needs Linux) [P15, P16, P18]',
  async () => {
    const limits = { headersMs: 2_000, requestMs: 3_000, bufferBytes: 256 * 1024 };
    const one = await rig({ limits });
    const { ask, watch } = one;
    for (const id of ['honest', 'contended']) await ask('POST', '/v1/sessions', { id });
    const before = descriptors();
    const stalled = stalledReader(target(one), 'honest');
    const honest = await watch('/v1/sessions/honest/events');
    const wasDropped = async () =>
      (await ask('GET', '/metrics')).text.includes('cobbler_sse_dropped_total 1\n');
    // Send enough data that the server drops the client that does not read.
    const talk = async (): Promise<void> => {
      for (let run = 1; run <= 40 && (run < 5 || !(await wasDropped())); run += 1) {
        const { status, json } = await ask('POST', '/v1/sessions/honest/prompt', {
          content: `say ${'x'.repeat(400_000)}`,
        });
        expect(status).toBe(202);
        await honest.until(
          ({ json: event }) => event['type'] === 'finished' && event['runId'] === json['runId'],
        );
      }
    };
    const twenty = Array.from({ length: 20 }, () =>
      ask('POST', '/v1/sessions/contended/prompt', { content: 'hang' }),
    );
    const [, answers, ...outcomes] = await Promise.all([
      talk(),
      Promise.all(twenty),
      ...attacks.map((attack) => attacked(target(one), attack)),
      ...slowAttacks.map((attack) => attacked(target(one), attack, 100)),
      ...Array.from({ length: 50 }, (_, index) =>
        connectAndDrop(target(one), 'GET / HTTP'.slice(0, index % 10)),
      ),
    ]);
    const expected = [...attacks, ...slowAttacks].map((attack) => attack.expected);
    expect(outcomes.slice(0, expected.length)).toEqual(expected);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(19).fill(409)]);
    const seqs = honest.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(seqs.length).toBeGreaterThan(10);
    expect(await wasDropped()).toBe(true);
    stalled.destroy();
    honest.close();
    await ask('POST', '/v1/sessions/contended/cancel');
    await expect.poll(descriptors, { timeout: 60_000 }).toBeLessThanOrEqual(before);
    await moment();
  },
);
