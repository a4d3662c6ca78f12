import type { AgentError, RunEvent } from '@cobbler/agent';
import { systemRuntime, textOf } from '@cobbler/agent';
import { connectHarness } from '@cobbler/agent/remote';
import { serveLoopback } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { rig } from '../support/rig.ts';

const back = { baseMs: 1, maxMs: 5 };
const nowhere = 'http://127.0.0.1:1';

/** Starts a server whose event streams are silent after the greeting, so each is lost after 20 ms. */
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

describe('a remote conversation', () => {
  test('fails at once with an auth error if the token is invalid', async () => {
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

  test('rejects an invalid server URL when it is created', () => {
    expect(() => connectHarness({ url: 'nowhere', token: '' })).toThrow(/not a valid server URL/);
  });

  test('calls onRefused for each decision that the server refuses, whatever the callback throws [P18]', async () => {
    const { server, tokens } = await rig({ settings: () => ({ ...harnessFixture(), attended: true }) });
    const { token } = tokens.add({ name: 'g', scopes: ['prompt', 'read'] });
    const crashes: unknown[] = [];
    const onCrash = (error: unknown) => void crashes.push(error);
    process.on('unhandledRejection', onCrash);
    onTestFinished(() => void process.off('unhandledRejection', onCrash));
    const refused: (string | undefined)[] = [];
    const onRefused = (_: string, { code }: AgentError) => {
      refused.push(code);
      throw new Error('A fault of the program.');
    };
    const harness = connectHarness({ url: server.url, token, back, onRefused });
    onTestFinished(() => harness.close());
    const run = harness.prompt('use write');
    for await (const event of run) {
      if (event.type !== 'approval_requested') continue;
      const decide = () => expect(run.decide(event.approvalId, { decision: 'allow' })).toBe(true);
      decide();
      decide();
      break;
    }
    await expect.poll(() => refused).toEqual(['scope', 'scope']);
    await new Promise(setImmediate);
    expect(crashes).toEqual([]);
  });

  test('returns a message that the run has ended without', async () => {
    const { server, token } = await rig({ settings: () => ({ ...harnessFixture(), attended: true }) });
    const fetch: typeof globalThis.fetch = async (input, init) =>
      String(input).endsWith('/steer')
        ? Response.json({ code: 'not_running', detail: 'No run is active.' }, { status: 409 })
        : await systemRuntime.fetch(input, init);
    const unread: unknown[] = [];
    const onUnread = (content: unknown) => void unread.push(content);
    const runtime = { ...systemRuntime, fetch };
    const harness = connectHarness({ url: server.url, token, back, onUnread, runtime });
    onTestFinished(() => harness.close());
    const run = harness.prompt('use write');
    for await (const event of run) if (event.type === 'approval_requested') break;
    expect([harness.steer('Hurry.'), run.steer('Please.')]).toEqual([true, true]);
    await expect
      .poll(() => unread)
      .toEqual([[{ type: 'text', text: 'Hurry.' }], [{ type: 'text', text: 'Please.' }]]);
  });

  test('fails the run if the server stays unreachable for patienceMs [P2]', async () => {
    const harness = connectHarness({ url: nowhere, token: 'x', back, patienceMs: 50 });
    const run = harness.prompt('say Hi.');
    expect((await run.result).error).toMatchObject({ kind: 'network', code: 'unreachable' });
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['started', 'finished']);
  });

  test('ends a cancelled run even if the server is unreachable [P3]', async () => {
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
      ', even if fetch ignores its signal',
      (input: string | URL | Request, { signal: _, ...init }: RequestInit = {}) =>
        systemRuntime.fetch(input, init),
    ],
  ])('reconnects if the connection is silent%s', async (_name, fetch) => {
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

  test('reconnects although onLost and onBack throw', async () => {
    const { server, token } = await rig();
    const proxy = new CuttingProxy(server.url, () => undefined);
    await proxy.listen();
    onTestFinished(() => proxy.close());
    const called: string[] = [];
    const fail = (name: string) => () => {
      called.push(name);
      throw new Error(name);
    };
    const callbacks = { onLost: fail('onLost'), onBack: fail('onBack') };
    const harness = connectHarness({ url: proxy.url, token, back, ...callbacks });
    await harness.prompt('say One.').result;
    proxy.breakStreams();
    expect((await harness.prompt('say Two.').result).text).toBe('Two.');
    expect(called).toEqual(['onLost', 'onBack']);
    await harness.close();
  });

  test('ends a cancelled run in time although its connection is lost repeatedly [P3]', async () => {
    const url = await silent(() => undefined);
    const harness = connectHarness({ url, token: 'x', back, stopMs: 100 });
    const run = harness.prompt('say Hi.');
    run.cancel();
    expect((await run.result).status).toBe('cancelled');
    await harness.close();
  });

  test('fails the run as lost if the server lost the session, and runs the next prompt', async () => {
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

  test('neither loses nor repeats text if the connection is cut during a response', async () => {
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

  test('receives later prompts of another client, but not earlier ones', async () => {
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

  test('rejects a prompt if another client keeps the session busy', async () => {
    const { server, token, ask } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    const harness = connectHarness({ url: server.url, token, sessionId: 's', back });
    expect((await harness.prompt('say Hi.').result).error?.code).toBe('busy');
    await harness.close();
  });
});

/** Creates runtimes whose fetch sends requests to the current server, with its token. */
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
