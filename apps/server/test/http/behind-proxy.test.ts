import type { IncomingMessage } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProxyKind } from '../support/proxy.ts';
import { behind, caddy, isInstalled, nginx, site } from '../support/proxy.ts';
import { rig } from '../support/rig.ts';

/** Returns a function that reads the next frame of a stream. */
function framesOf(response: IncomingMessage): () => Promise<string> {
  onTestFinished(() => void response.destroy());
  const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]();
  let rest = '';
  return async () => {
    while (!rest.includes('\n\n')) {
      const { value, done } = await chunks.next();
      if (done === true) throw new Error('The stream ended.');
      rest += String(value);
    }
    const [frame = ''] = rest.split('\n\n', 1);
    rest = rest.slice(frame.length + 2);
    return frame;
  };
}

async function scene(kind: ProxyKind) {
  const made = await rig({ allowedHosts: [site], limits: { heartbeatMs: 300 } });
  const proxied = await behind(kind, made.server.url);
  return { ...made, proxied, authorized: { authorization: `Bearer ${made.token}` } };
}

const json = { 'content-type': 'application/json' };

for (const kind of [nginx, caddy]) {
  const isThere = isInstalled(kind);
  const why = isThere ? '' : ` (skipped: ${kind.name} is not installed; apt-get install ${kind.comesFrom})`;

  describe.skipIf(!isThere)(`behind ${kind.name} with its configuration from deploy/${why}`, () => {
    test('each event and each heartbeat arrives at once, while the stream is open', async () => {
      const { ask, proxied, authorized } = await scene(kind);
      await ask('POST', '/v1/sessions', { id: 's' });
      const response = await proxied.open('GET', '/v1/sessions/s/events?deltas=false', authorized);
      expect(response.headers['content-type']).toContain('text/event-stream');
      expect(response.headers['content-encoding']).toBeUndefined();
      const next = framesOf(response);
      expect(await next()).toContain('"type":"hello"');
      expect(await next()).toBe(': heartbeat');
      expect(await next()).toBe(': heartbeat');
      const body = '{"content":"use look"}';
      const { status } = await proxied.ask('POST', '/v1/sessions/s/prompt', { ...authorized, ...json }, body);
      expect(status).toBe(202);
      const ids: string[] = [];
      for (let frame = ''; !frame.includes('"type":"finished"'); ) {
        frame = await next();
        const [, id] = /^id: (\d+)$/m.exec(frame) ?? [];
        if (id !== undefined) ids.push(id);
      }
      expect(ids).toEqual(ids.map((_, index) => String(index + 1)));
      const later = framesOf(
        await proxied.open('GET', '/v1/sessions/s/events', { ...authorized, 'last-event-id': '2' }),
      );
      expect(await later()).toContain('"type":"hello"');
      let first = await later();
      // Reading the log may take longer than a heartbeat interval.
      while (first === ': heartbeat') first = await later();
      expect(first).toMatch(/^id: 3$/m);
    });

    test('the page gets a Secure cookie and can use it', async () => {
      const { token, proxied } = await scene(kind);
      const page = await proxied.ask('GET', '/');
      expect([page.status, page.headers['content-type']]).toEqual([
        200,
        expect.stringContaining('text/html'),
      ]);
      expect(page.headers['strict-transport-security']).toContain('max-age');
      const from = { origin: `https://${site}`, ...json };
      const exchanged = await proxied.ask('POST', '/v1/cookie', from, JSON.stringify({ token }));
      const [set = ''] = exchanged.headers['set-cookie'] ?? [];
      expect([exchanged.status, set]).toEqual([200, expect.stringMatching(/; HttpOnly.*; Secure$/)]);
      const { key } = JSON.parse(exchanged.text) as { readonly key: string };
      const signedIn = { cookie: set.split(';')[0] ?? '', 'cobbler-page': key };
      expect((await proxied.ask('GET', '/v1/sessions', signedIn)).status).toBe(200);
      const foreign = { ...signedIn, origin: 'https://evil.example', ...json };
      expect((await proxied.ask('POST', '/v1/sessions', foreign, '{}')).status).toBe(403);
    });

    test('the proxy blocks an unknown host, a body that is too large and the metrics', async () => {
      const { ask, proxied, authorized } = await scene(kind);
      const other = await proxied.ask('GET', '/v1/sessions', { ...authorized, host: 'evil.example' });
      expect(other.text).not.toContain('items');
      if (kind === nginx)
        expect([other.status, other.text]).toEqual([403, expect.stringContaining('"host"')]);
      const large = JSON.stringify({ content: 'x'.repeat(1_200_000) });
      const { status } = await proxied.ask(
        'POST',
        '/v1/sessions/s/prompt',
        { ...authorized, ...json },
        large,
      );
      expect(status).toBe(413);
      expect((await proxied.ask('GET', '/metrics', authorized)).status).toBe(404);
      expect((await ask('GET', '/metrics')).status).toBe(200);
    });
  });
}
