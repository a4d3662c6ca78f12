import { describe, expect, it, vi } from 'vitest';
import type { UpdateDelivery } from '../../src/telegram/index.ts';
import { acceptUpdate } from '../../src/telegram/index.ts';

const maxBytes = 1_048_576;

async function* chunksOf(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield new TextEncoder().encode(chunk);
}

async function deliver(changes: Partial<UpdateDelivery>) {
  const onUpdate = vi.fn(async (_: unknown) => {});
  const delivery = { secret: 'secret', given: 'secret', length: undefined, body: chunksOf('{}'), onUpdate };
  const response = await acceptUpdate({ ...delivery, ...changes });
  return { ...response, taken: onUpdate.mock.calls.flat() };
}

describe('acceptUpdate', () => {
  it('passes the parsed body on and returns 200 once the update is stored, not before [S3.2]', async () => {
    const stored = Promise.withResolvers<void>();
    const statuses: number[] = [];
    const update = { update_id: 5, text: 'Grüße 👟' };
    const bytes = new TextEncoder().encode(JSON.stringify(update));
    const received: unknown[] = [];
    // One byte per chunk, so that every character of several bytes is divided.
    const body = (async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    })();
    const onUpdate = async (arrived: unknown) => {
      received.push(arrived);
      await stored.promise;
    };
    const response = deliver({ body, onUpdate }).then(({ status }) => statuses.push(status));
    await vi.waitFor(() => expect(received).toEqual([update]));
    expect(statuses).toEqual([]);
    stored.resolve();
    await response;
    expect(statuses).toEqual([200]);
  });

  it('returns 503 for an update that cannot be stored, so that Telegram sends it again [S3.2]', async () => {
    const onUpdate = async () => {
      throw new Error('the disk is full');
    };
    const { status, reason } = await deliver({ onUpdate });
    expect([status, reason]).toEqual([503, 'could not be stored']);
  });

  it.each([null, undefined, '', 'wrong', 'secretx'])(
    'rejects a wrong secret before it reads the body: %s',
    async (given) => {
      const read = vi.fn();
      const body = { [Symbol.asyncIterator]: read };
      const { status, reason, taken } = await deliver({ given, body });
      expect([status, reason, taken]).toEqual([401, given == null ? 'missing secret' : 'wrong secret', []]);
      expect(read).not.toHaveBeenCalled();
    },
  );

  it('rejects every request if its own secret is empty', async () => {
    expect(await deliver({ secret: '', given: '' })).toMatchObject({ status: 401, taken: [] });
  });

  it.each(['no json', '', '{"update_id": 5'])('returns 400 for a body that is not JSON: %j', async (body) => {
    expect(await deliver({ body: chunksOf(body) })).toMatchObject({ status: 400, taken: [] });
    expect(await deliver({ body: null })).toMatchObject({ status: 400, taken: [] });
  });

  it('accepts exactly 1 MiB and returns 413 for more, without reading the rest', async () => {
    const text = JSON.stringify('x'.repeat(maxBytes - 2));
    expect(await deliver({ body: chunksOf(text) })).toMatchObject({ status: 200 });
    const body = chunksOf(text, ' ', 'unread');
    expect(await deliver({ body })).toMatchObject({ status: 413, taken: [] });
    expect(await deliver({ length: String(maxBytes + 1) })).toMatchObject({ status: 413, taken: [] });
  });
});
