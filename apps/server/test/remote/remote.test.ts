import type { AgentError, RunEvent } from '@cobbler/agent';
import { systemRuntime, textOf } from '@cobbler/agent';
import { connectHarness } from '@cobbler/agent/remote';
import { serveLoopback } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { rig } from '../support/rig.ts';

const back = { baseMs: 1, maxMs: 5 };
const nowhere = 'http://127.0.0.1:1';

/** A server whose streams of events say nothing after their greeting, so that each is lost 20 ms later. */
async function silent(onVisit: () => void): Promise<string> {
  const { url, close } = await serveLoopback(async (request) => {
    if (!request.url.endsWith('/events')) return Response.json({});
    onVisit();
    const hello = 'data: {"type":"hello","heartbeatMs":8,"events":0}\n\n';
    const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(hello)) });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  onTestFinished(() => close());
  return url;
}

describe('a conversation on a server', () => {
  test('with a token that is not valid fails at once, as auth', async () => {
    const { server } = await rig();
    const harness = connectHarness({ url: server.url, token: 'cbk_wrong', back });
    const { status, error } = await harness.prompt('say Hi.').result;
    expect([status, error?.kind, error?.code, error?.status]).toEqual([
      'failed',
      'auth',
      'unauthorized',
      401,
    ]);
  });

  test('an address that is none is refused when it is made', () => {
    expect(() => connectHarness({ url: 'nowhere', token: '' })).toThrow(/not a valid server URL/);
  });

  test('a server that cannot be reached fails the run once the patience is over [P2]', async () => {
    const harness = connectHarness({ url: nowhere, token: 'x', back, patienceMs: 50 });
    const run = harness.prompt('say Hi.');
    expect((await run.result).error).toMatchObject({ kind: 'network', code: 'unreachable' });
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['started', 'finished']);
  });

  test('a cancel that no server hears ends the run all the same [P3]', async () => {
    const harness = connectHarness({ url: nowhere, token: 'x', back, stopMs: 20 });
    const run = harness.prompt('say Hi.');
    expect(harness.cancel()).toBe(true);
    expect((await run.result).status).toBe('cancelled');
    expect((await harness.prompt('say Hi.', { signal: AbortSignal.abort() }).result).status).toBe(
      'cancelled',
    );
  });

  test.each([
    ['', systemRuntime.fetch],
    [
      ', also when fetch ignores its signal',
      (input: string | URL | Request, { signal: _, ...init }: RequestInit = {}) =>
        systemRuntime.fetch(input, init),
    ],
  ])('a connection that shows no sign of life is broken and made anew%s', async (_name, fetch) => {
    let visits = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const url = await silent(() => ++visits === 2 && resolve());
    const lost: AgentError[] = [];
    const onLost = (error: AgentError) => void lost.push(error);
    const runtime = { ...systemRuntime, fetch };
    const harness = connectHarness({ url, token: 'x', back, stopMs: 1, onLost, runtime });
    harness.prompt('say Hi.');
    await promise;
    expect(lost[0]?.kind).toBe('network');
    await harness.close();
  });

  test('a cancelled run ends in time although its connection is lost again and again [P3]', async () => {
    const url = await silent(() => undefined);
    const harness = connectHarness({ url, token: 'x', back, stopMs: 100 });
    const run = harness.prompt('say Hi.');
    run.cancel();
    expect((await run.result).status).toBe('cancelled');
    await harness.close();
  });

  test('a server that lost the session fails the run as lost, and the next prompt works', async () => {
    const [first, second] = [await rig(), await rig()];
    let target = first.server.url;
    const harnesses = new Map<string, CuttingProxy>();
    for (const { server } of [first, second]) {
      const proxy = new CuttingProxy(server.url, () => undefined);
      await proxy.listen();
      onTestFinished(() => proxy.close());
      harnesses.set(server.url, proxy);
    }
    const runtime = await moving(() => harnesses.get(target)?.url ?? '');
    const harness = connectHarness({
      url: 'http://moving',
      token: '',
      back,
      ...runtime(first.token, second.token, () => target === first.server.url),
    });
    await harness.prompt('say One.').result;
    const run = harness.prompt('hang');
    for await (const event of run) if (event.type === 'user') break;
    target = second.server.url;
    harnesses.get(first.server.url)?.breakStreams();
    expect((await run.result).error).toMatchObject({ code: 'lost' });
    expect((await harness.prompt('count').result).text).toBe('1');
    await harness.close();
  });

  test('a line that is cut in the middle of an answer loses nothing of it and doubles nothing', async () => {
    const { server, token } = await rig();
    const proxy = new CuttingProxy(server.url, () => undefined);
    await proxy.listen();
    onTestFinished(() => proxy.close());
    const harness = connectHarness({ url: proxy.url, token, back });
    onTestFinished(() => harness.close());
    const run = harness.prompt('begin Once upon a time');
    let shown = '';
    run.subscribe((event) => {
      if (event.type === 'text_delta') shown += event.text;
      if (event.type === 'retry') shown = '';
    });
    for (let cuts = 0; cuts < 3; cuts += 1) {
      await expect.poll(() => shown).toMatch(/^Once/);
      await expect.poll(() => proxy.breakStreams()).toBe(1);
    }
    await expect.poll(() => shown).toBe('Once upon a time');
    run.cancel();
    expect((await run.result).messages.map(textOf)[1]).toBe('Once upon a time');
    expect(shown).toBe('Once upon a time');
  });

  test('another client’s prompts are heard too, and what was there before is not', async () => {
    const { server, token, ask, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'say Before.' });
    await idle('s');
    const heard: string[] = [];
    const handler = { onUser: (said: string) => void heard.push(said) };
    const harness = connectHarness({ url: server.url, token, sessionId: 's', handler, back });
    const { messages } = await harness.prompt('say Mine.').result;
    expect(messages).toHaveLength(4);
    await ask('POST', '/v1/sessions/s/prompt', { content: 'say Theirs.' });
    await expect.poll(() => heard).toEqual(['say Mine.', 'say Theirs.']);
    await harness.close();
  });

  test('a busy session, whoever keeps it busy, refuses the prompt', async () => {
    const { server, token, ask } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    const harness = connectHarness({ url: server.url, token, sessionId: 's', back });
    expect((await harness.prompt('say Hi.').result).error?.code).toBe('busy');
    await harness.close();
  });
});

/** A runtime whose fetch goes to whichever server is the present one, with its token. */
async function moving(url: () => string) {
  const { systemRuntime } = await import('@cobbler/agent');
  return (first: string, second: string, isFirst: () => boolean) => ({
    runtime: {
      ...systemRuntime,
      fetch: (input: string | URL | Request, init: RequestInit = {}) => {
        const { pathname, search } = new URL(String(input));
        const headers = { ...init.headers, authorization: `Bearer ${isFirst() ? first : second}` };
        return fetch(url() + pathname + search, { ...init, headers });
      },
    },
  });
}
