import { describe, expect, test } from 'vitest';
import { BatchFailure } from '../../src/provider/batch/batch-http.ts';
import { batchTransport } from '../../src/provider/batch/batch-transport.ts';
import type { BatchService } from '../../src/provider/batch/index.ts';
import type { TransportRequest } from '../../src/provider/wire/transport.ts';
import { fakeRuntime } from '../../src/testing/index.ts';

/** Creates a request with this prompt, which can be given up. */
function asking(prompt: string, headers: Readonly<Record<string, string>> = { 'x-api-key': 'key' }) {
  let giveUp: ((reason: unknown) => void) | undefined;
  const request: TransportRequest = {
    url: 'http://model.test/v1/messages',
    headers,
    body: [new TextEncoder().encode(JSON.stringify({ prompt, stream: true }))],
    signal: new AbortController().signal,
    whenGivenUp: (listener) => {
      giveUp = listener;
    },
  };
  return { request, giveUp: (reason: unknown) => giveUp?.(reason) };
}

/** Creates a service that records what it is asked, and ends a batch at the check with this number. */
function service({ endsAt = 1, checks = [] as unknown[] } = {}) {
  const submitted: string[][] = [];
  const cancelled: string[] = [];
  const ids: string[][] = [];
  let checked = 0;
  const batches: BatchService = {
    async submit(entries) {
      submitted.push(entries.map(({ body }) => String(body['prompt'])));
      return `batch-${ids.push(entries.map(({ id }) => id)) - 1}`;
    },
    async outcomes(batch) {
      const failure = checks[checked];
      checked += 1;
      if (failure !== undefined) throw failure;
      if (checked < endsAt) return undefined;
      const of = ids[Number(batch.slice(6))] ?? [];
      return (id) => ({ events: [of.indexOf(id)] });
    },
    async cancel(batch) {
      cancelled.push(batch);
    },
  };
  return { batches, submitted, cancelled, checks: () => checked };
}

async function textOf(response: { read(onChunk: (bytes: Uint8Array) => void): Promise<void> }) {
  let text = '';
  await response.read((bytes) => {
    text += new TextDecoder().decode(bytes);
  });
  return text;
}

/** A failed check of a batch. */
const failed = (status: number) =>
  new BatchFailure(status, '{"error":{"message":"Not now."}}', new Headers());

describe('a transport that sends batches', () => {
  test('collects the requests of a second in one batch, and returns each its own response', async () => {
    const runtime = fakeRuntime();
    const { batches, submitted } = service();
    const send = batchTransport(batches, runtime);
    const responses = [send(asking('one').request), send(asking('two').request)];
    await runtime.advance(999);
    expect(submitted).toEqual([]);
    await runtime.advance(1);
    expect(submitted).toEqual([['one', 'two']]);
    await runtime.advance(5_000);
    const [one, two] = await Promise.all(responses);
    expect([one?.status, one?.header('content-type')]).toEqual([200, 'text/event-stream']);
    expect([await textOf(one as never), await textOf(two as never)]).toEqual(['data: 0\n\n', 'data: 1\n\n']);
    expect(runtime.timers).toBe(0);
  });

  test('submits a batch at once when it is full, and the next request starts another', async () => {
    const runtime = fakeRuntime();
    const { batches, submitted } = service();
    const send = batchTransport(batches, runtime, { maxRequests: 2 });
    const responses = ['one', 'two', 'three'].map((prompt) => send(asking(prompt).request));
    await runtime.advance(0);
    expect(submitted).toEqual([['one', 'two']]);
    await runtime.advance(20_000);
    expect(submitted).toEqual([['one', 'two'], ['three']]);
    await Promise.all(responses);
  });

  test('keeps requests with other headers, such as another key, apart', async () => {
    const runtime = fakeRuntime();
    const { batches, submitted } = service();
    const send = batchTransport(batches, runtime);
    const responses = [send(asking('one').request), send(asking('two', { 'x-api-key': 'other' }).request)];
    await runtime.advance(20_000);
    expect(submitted).toEqual([['one'], ['two']]);
    await Promise.all(responses);
  });

  test('checks at growing intervals of at most a minute', async () => {
    const runtime = fakeRuntime();
    const { batches, checks } = service({ endsAt: 100 });
    const response = batchTransport(batches, runtime, { collectMs: 0 })(asking('one').request);
    await runtime.advance(0);
    await runtime.advance(5_000);
    expect(checks()).toBe(1);
    await runtime.advance(7_499);
    expect(checks()).toBe(1);
    await runtime.advance(1);
    expect(checks()).toBe(2);
    await runtime.advance(100 * 60_000);
    expect((await response).status).toBe(200);
  });

  test.each([429, 500, 503])('repeats a check that failed with status %i', async (status) => {
    const runtime = fakeRuntime();
    const { batches } = service({ checks: [failed(status), new TypeError('fetch failed')] });
    const response = batchTransport(batches, runtime, { collectMs: 0 })(asking('one').request);
    await runtime.advance(60_000);
    expect(await textOf(await response)).toBe('data: 0\n\n');
  });

  test('returns an error that another check would meet again', async () => {
    const runtime = fakeRuntime();
    const { batches } = service({ checks: [failed(401)] });
    const response = batchTransport(batches, runtime, { collectMs: 0 })(asking('one').request);
    await runtime.advance(60_000);
    const { status } = await response;
    expect([status, await textOf(await response)]).toEqual([401, '{"error":{"message":"Not now."}}']);
  });

  test('a request without an outcome fails, and the others do not', async () => {
    const runtime = fakeRuntime();
    const { batches } = service();
    const outcomes: BatchService['outcomes'] = async () => (id) =>
      id === first ? undefined : { events: [] };
    let first = '';
    const submit: BatchService['submit'] = async ([entry]) => {
      first = entry?.id ?? '';
      return 'batch-0';
    };
    const send = batchTransport({ ...batches, submit, outcomes }, runtime);
    const responses = [send(asking('one').request), send(asking('two').request)];
    await runtime.advance(20_000);
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([502, 200]);
  });

  test('rejects all requests of a batch that could not be submitted', async () => {
    const runtime = fakeRuntime();
    const { batches } = service();
    const submit = () => Promise.reject(new TypeError('fetch failed'));
    const response = batchTransport({ ...batches, submit }, runtime)(asking('one').request);
    const outcome = expect(response).rejects.toThrow('fetch failed');
    await runtime.advance(1_000);
    await outcome;
  });
});

describe('a request that is given up', () => {
  test('is not sent if its batch still collects', async () => {
    const runtime = fakeRuntime();
    const { batches, submitted } = service();
    const send = batchTransport(batches, runtime);
    const [one, two] = [asking('one'), asking('two')];
    const outcome = expect(send(one.request)).rejects.toThrow('enough');
    const response = send(two.request);
    one.giveUp(new Error('enough'));
    await runtime.advance(20_000);
    expect(submitted).toEqual([['two']]);
    await outcome;
    await response;
  });

  test('cancels its batch if no other request waits for it, and nothing is checked anymore', async () => {
    const runtime = fakeRuntime();
    const { batches, cancelled, checks } = service({ endsAt: 100 });
    const send = batchTransport(batches, runtime);
    const [one, two] = [asking('one'), asking('two')];
    const outcomes = [one, two].map(({ request }) => expect(send(request)).rejects.toThrow('enough'));
    await runtime.advance(10_000);
    one.giveUp(new Error('enough'));
    await runtime.advance(0);
    expect(cancelled).toEqual([]);
    two.giveUp(new Error('enough'));
    await runtime.advance(0);
    expect(cancelled).toEqual(['batch-0']);
    const soFar = checks();
    await runtime.advance(3_600_000);
    expect([checks(), runtime.timers]).toEqual([soFar, 0]);
    await Promise.all(outcomes);
  });
});
