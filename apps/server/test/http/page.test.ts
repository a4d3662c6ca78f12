import { memoryStore } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { TokenStore } from '../../src/index.ts';
import { rig, signedIn } from '../support/rig.ts';

describe('the web page', () => {
  test('is served completely, with a policy that allows only its own scripts [P15]', async () => {
    const { server } = await rig();
    const page = await fetch(server.url);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self'; ");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files.filter((file) => file.startsWith('/assets/'))).toHaveLength(2);
    for (const file of files.filter((one) => one !== 'data:,')) {
      const answer = await fetch(server.url + file);
      expect([file, answer.status, answer.headers.get('cache-control')]).toEqual([
        file,
        200,
        expect.stringContaining('immutable'),
      ]);
      await answer.body?.cancel();
    }
    expect(html).not.toMatch(/<script(?! type="module" crossorigin src="\/assets\/)/);
    expect(await (await fetch(`${server.url}/s/any`)).text()).toBe(html);
    expect((await fetch(`${server.url}/assets/none.js`)).status).toBe(404);
    expect(await (await fetch(`${server.url}/assets/notices.txt`)).text()).toContain('dompurify');
  });

  test('keeps its cookie across a server restart, until the token is rotated', async () => {
    const [store, tokens] = [memoryStore(), new TokenStore()];
    const first = await rig({ store, tokens });
    const { cookie, key } = await signedIn(first.ask, first.token);
    await first.server.close();
    const second = await rig({ store, tokens });
    const headers = { authorization: '', cookie, 'cobbler-page': key };
    const status = async () => (await second.ask('GET', '/v1/sessions', undefined, headers)).status;
    expect(await status()).toBe(200);
    tokens.rotate();
    expect(await status()).toBe(401);
  });
});
