import { defineTool, Executor } from '@cobbler/agent';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClaudeBatch } from '../src/batch.ts';
import { claudePrice, claudePricing } from '../src/index.ts';

const address = 'https://api.anthropic.com/v1/messages/batches';
const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

interface Sent {
  readonly custom_id: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Serves batches whose results these functions return, one a batch. */
function serve(...results: readonly ((request: Sent) => unknown)[]) {
  const batches: Sent[][] = [];
  const seen: string[] = [];
  let checks = 0;
  server.use(
    http.post(address, async ({ request }) => {
      seen.push(request.headers.get('authorization') ?? request.headers.get('x-api-key') ?? '');
      const { requests } = (await request.json()) as { requests: Sent[] };
      return HttpResponse.json({
        id: `msgbatch_${batches.push(requests)}`,
        processing_status: 'in_progress',
      });
    }),
    http.get(`${address}/:id`, ({ params }) => {
      checks += 1;
      const status = checks % 2 === 0 ? 'ended' : 'in_progress';
      return HttpResponse.json({
        id: params['id'],
        processing_status: status,
        results_url: 'https://elsewhere.test/results',
      });
    }),
    http.get(`${address}/:id/results`, ({ params }) => {
      const index = Number(String(params['id']).slice(9)) - 1;
      const lines = (batches[index] ?? []).map((sent) => ({
        custom_id: sent.custom_id,
        result: results[index]?.(sent),
      }));
      return HttpResponse.text(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    }),
  );
  return { batches, seen };
}

const message = (content: readonly unknown[], stop_reason: string) => () => ({
  type: 'succeeded',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-5-5', content },
    ...{ stop_reason, stop_sequence: null, stop_details: null },
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 0,
    },
  },
});

const agent = (options = {}) =>
  createClaudeBatch({
    apiKey: 'key-1',
    model: 'claude-opus-5-5',
    env: {},
    collectMs: 0,
    pollMs: 0,
    ...options,
  });

describe('Claude in batches', () => {
  test('runs a task with a tool and thinking for half the price', async () => {
    const { batches, seen } = serve(
      message(
        [
          { type: 'thinking', thinking: 'I need the time.', signature: 'signed' },
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'clock',
            input: { zone: 'UTC' },
            caller: { type: 'direct' },
          },
        ],
        'tool_use',
      ),
      message([{ type: 'text', text: 'It is noon.', citations: null }], 'end_turn'),
    );
    const clock = defineTool({
      name: 'clock',
      description: 'Returns the time.',
      parameters: z.object({ zone: z.string() }),
      execute: ({ zone }) => `12:00 ${zone}`,
    });
    const executor = new Executor({ agent: agent(), tools: [clock], pricing: claudePricing });
    const { status, text, metrics } = await executor.run('What time is it?');
    expect([status, text]).toEqual(['complete', 'It is noon.']);
    const { input = 0, output = 0, cacheRead = 0 } = claudePrice('claude-opus-5-5', 110) ?? {};
    expect(metrics.usd).toBeCloseTo((2 * 0.5 * (100 * input + 10 * cacheRead + 20 * output)) / 1e6, 12);
    expect(seen).toEqual(['Bearer key-1', 'Bearer key-1']);
    const params = batches[1]?.[0]?.params ?? {};
    expect('stream' in params).toBe(false);
    expect(JSON.stringify(params['messages'])).toContain('"signature":"signed"');
  });

  test('sends concurrent requests in one batch', async () => {
    const { batches } = serve((sent) => message([{ type: 'text', text: sent.custom_id }], 'end_turn')());
    const executor = new Executor({ agent: agent({ collectMs: 20 }) });
    const results = await Promise.all(['One.', 'Two.', 'Three.'].map((prompt) => executor.run(prompt)));
    expect(batches.map((batch) => batch.length)).toEqual([3]);
    expect(results.map(({ text }) => text)).toEqual(batches[0]?.map(({ custom_id }) => custom_id));
  });

  test.each([
    [
      {
        type: 'errored',
        error: { type: 'error', error: { type: 'invalid_request_error', message: 'Bad field.' } },
      },
      'invalid',
    ],
    [
      {
        type: 'errored',
        error: { type: 'error', error: { type: 'authentication_error', message: 'No key.' } },
      },
      'auth',
    ],
    [{ type: 'canceled' }, 'invalid'],
    [{ type: 'expired' }, 'agent'],
    [{ type: 'unknown' }, 'agent'],
    [undefined, 'agent'],
  ])('%j fails as %s', async (result, kind) => {
    serve(() => result);
    const failing = agent({ retry: { retries: 0, forMs: 0 } });
    const { status, error } = await new Executor({ agent: failing }).run('Go.');
    expect([status, error?.kind]).toEqual(['failed', kind]);
  });

  test('a result whose content is no list is invalid', async () => {
    serve(() => ({ type: 'succeeded', message: { content: 'text', stop_reason: 'end_turn' } }));
    const failing = agent({ retry: { retries: 0, forMs: 0 } });
    expect((await new Executor({ agent: failing }).run('Go.')).status).toBe('failed');
  });

  test('a refused batch is the error of its requests, without the key', async () => {
    server.use(
      http.post(address, () =>
        HttpResponse.json(
          { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key key-1' } },
          { status: 401 },
        ),
      ),
    );
    const { status, error } = await new Executor({ agent: agent() }).run('Go.');
    expect([status, error?.kind]).toEqual(['failed', 'auth']);
    expect(error?.message).not.toContain('key-1');
  });

  test('a run that is cancelled cancels its batch', async () => {
    let cancelled = 0;
    const done = Promise.withResolvers<void>();
    const submitted = Promise.withResolvers<void>();
    server.use(
      http.post(address, () => {
        submitted.resolve();
        return HttpResponse.json({ id: 'msgbatch_1' });
      }),
      http.get(`${address}/:id`, () => HttpResponse.json({ processing_status: 'in_progress' })),
      http.post(`${address}/:id/cancel`, () => {
        cancelled += 1;
        done.resolve();
        return HttpResponse.json({});
      }),
    );
    const run = new Executor({ agent: agent({ pollMs: 1 }) }).run('Go.');
    await submitted.promise;
    run.cancel();
    expect((await run).status).toBe('cancelled');
    await done.promise;
    expect(cancelled).toBe(1);
  });

  test('uses the timeouts of the caller', async () => {
    server.use(
      http.post(address, () => HttpResponse.json({ id: 'msgbatch_1' })),
      http.get(`${address}/:id`, () => HttpResponse.json({ processing_status: 'in_progress' })),
      http.post(`${address}/:id/cancel`, () => HttpResponse.json({})),
    );
    const late = agent({ pollMs: 1, timeouts: { headersMs: 20 }, retry: { retries: 0, forMs: 0 } });
    expect((await new Executor({ agent: late }).run('Go.')).error?.kind).toBe('timeout');
  });

  test('rejects an invalid option', () => {
    expect(() => createClaudeBatch({ apiKey: 'key', pollMs: -1 })).toThrow('pollMs');
  });
});
