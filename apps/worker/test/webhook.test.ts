import { AgentError } from '@cobbler/agent';
import type { ReadUpdate } from '@cobbler/assistant';
import { describe, expect, it, vi } from 'vitest';
import type { Env } from '../src/env.ts';
import type { WorkerParts } from '../src/parts.ts';
import { takeUpdate } from '../src/webhook.ts';
import { handlerOf } from '../src/worker.ts';

const settings = { token: '1:a', secret: 'secret', allowed: new Set(['7']), timeZone: 'UTC' };
const message = {
  message_id: 1,
  from: { id: 7, is_bot: false, first_name: 'Ada' },
  chat: { id: 7, type: 'private' },
  date: 1_795_000_000,
  text: 'Hello.',
};

/** Posts an update to a worker whose assistant uses this `receive` function. */
async function post(
  receive: (update: ReadUpdate) => Promise<boolean>,
  { secret = 'secret', body = JSON.stringify({ update_id: 5, message }) } = {},
): Promise<Response> {
  const request = new Request('http://worker.invalid/telegram', {
    method: 'POST',
    headers: { 'x-telegram-bot-api-secret-token': secret },
    body,
  });
  return await takeUpdate(request, { settings, assistant: { receive } } as unknown as WorkerParts);
}

describe('the worker webhook', () => {
  it('confirms an update once it is recorded, and not before [S3.2]', async () => {
    const recorded = Promise.withResolvers<boolean>();
    const answers: number[] = [];
    const answer = post(() => recorded.promise).then(({ status }) => answers.push(status));
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toEqual([]);
    recorded.resolve(true);
    await answer;
    expect(answers).toEqual([200]);
  });

  it('returns 503 for an update that it cannot record, so that Telegram repeats it [S3.2]', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const answer = await post(async () => {
      throw new AgentError({ kind: 'network', message: 'D1 is away' });
    });
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain('D1');
    expect(String(log.mock.calls[0]?.[0])).toMatch(/update 5.*D1 is away/);
    log.mockRestore();
  });

  it('does not process a request with a wrong secret', async () => {
    const receive = vi.fn(async () => true);
    expect((await post(receive, { secret: 'other' })).status).toBe(401);
    expect(receive).not.toHaveBeenCalled();
  });

  it('rejects a body that is not JSON, and confirms one that is not an update', async () => {
    const receive = vi.fn(async () => false);
    expect((await post(receive, { body: '{' })).status).toBe(400);
    expect(receive).not.toHaveBeenCalled();
    expect((await post(receive, { body: '{}' })).status).toBe(200);
    expect(receive).toHaveBeenCalledWith({ type: 'ignored', reason: 'not an update' });
  });

  it('reports missing settings in its log, but not to the caller', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const request = new Request('http://worker.invalid/telegram', { method: 'POST', body: '{}' });
    const answer = await handlerOf().fetch(request, {} as Env);
    expect([answer.status, await answer.text()]).toEqual([500, 'not set up\n']);
    expect(String(log.mock.calls[0]?.[0])).toContain('TELEGRAM_BOT_TOKEN');
    log.mockRestore();
  });
});
