import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TokenStore, tokenFile } from '../../src/index.ts';
import { rig, signedIn } from '../support/rig.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-tokens-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'home', 'tokens.json');
}

describe('the token file [P15]', () => {
  test('is created with a random token, readable only by its owner, and reused', () => {
    const path = place();
    const token = new TokenStore(tokenFile(path)).own();
    expect(token).toMatch(/^cbk_[\w-]{43}$/);
    expect([statSync(path).mode & 0o777, statSync(join(path, '..')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(new TokenStore(tokenFile(path)).own()).toBe(token);
  });

  test('stores only the hash of all other tokens', () => {
    const path = place();
    const book = new TokenStore(tokenFile(path));
    const { token } = book.add({ name: 'phone', scopes: ['read'] });
    expect(readFileSync(path, 'utf8')).not.toContain(token);
    expect(new TokenStore(tokenFile(path)).find(token)).toMatchObject({ name: 'phone', scopes: ['read'] });
  });

  test('loses its permissions for other users when the server opens it', () => {
    const path = place();
    new TokenStore(tokenFile(path)).own();
    chmodSync(path, 0o644);
    new TokenStore(tokenFile(path));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each(['{', '{"v":1}', '[]'])('throws if it is damaged (%s)', (text) => {
    const path = place();
    new TokenStore(tokenFile(path)).own();
    writeFileSync(path, text);
    expect(() => new TokenStore(tokenFile(path))).toThrow(/token file/);
  });
});

describe('tokens', () => {
  test('become invalid on rotation, at once or after a grace period', () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const book = new TokenStore(undefined, () => now);
    const first = book.own();
    const second = book.rotate(1000);
    expect([second === first, book.own() === second]).toEqual([false, true]);
    expect(book.find(first)).toBeDefined();
    now += 1001;
    expect([book.find(first), book.find(second)?.scopes]).toEqual([undefined, ['admin']]);
    book.rotate();
    expect(book.find(second)).toBeUndefined();
  });

  test('allow only the requests of their scopes', async () => {
    const { ask } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const made = async (scope: string) => {
      const { json } = await ask('POST', '/v1/tokens', { name: scope, scopes: [scope] });
      return { authorization: `Bearer ${json['token']}` };
    };
    const allowed = async (scope: string) => {
      const headers = await made(scope);
      const statuses = [
        (await ask('GET', '/v1/sessions', undefined, headers)).status,
        (await ask('POST', '/v1/sessions/s/cancel', undefined, headers)).status,
        (await ask('POST', '/v1/sessions/s/approvals/a', { decision: 'deny' }, headers)).status,
        (await ask('GET', '/v1/tokens', undefined, headers)).status,
      ];
      return statuses.map((status) => status !== 403);
    };
    expect(await allowed('read')).toEqual([true, false, false, false]);
    expect(await allowed('prompt')).toEqual([false, true, false, false]);
    expect(await allowed('approve')).toEqual([false, false, true, false]);
    expect(await allowed('admin')).toEqual([true, true, true, true]);
  });

  test('become invalid when deleted, which ends the streams opened with them', async () => {
    const { ask, watch } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const { json } = await ask('POST', '/v1/tokens', { name: 'owner', scopes: ['read'] });
    const authorization = `Bearer ${json['token']}`;
    const events = await watch('/v1/sessions/s/events', { authorization });
    await events.until(({ json: hello }) => hello['type'] === 'hello');
    expect((await ask('DELETE', `/v1/tokens/${json['id']}`)).status).toBe(204);
    await events.over;
    expect((await ask('GET', '/v1/sessions', undefined, { authorization })).status).toBe(401);
    expect((await ask('DELETE', `/v1/tokens/${json['id']}`)).status).toBe(404);
  });

  test('expire, which ends the streams opened with them and no others', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const { ask, watch } = await rig({ tokens: new TokenStore(undefined, () => now) });
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions', { id: 'default' });
    const { json } = await ask('POST', '/v1/tokens', { name: 'owner', scopes: ['read'], expiresInMs: 1000 });
    const headers = { authorization: `Bearer ${json['token']}` };
    await ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    const paths = ['/v1/sessions/s/events', '/events', '/v1/sessions/s/chat'];
    const streams = await Promise.all(paths.map((path) => watch(path, headers)));
    const others = await watch('/v1/sessions/s/events');
    expect(streams.map((stream) => stream.headers['status'])).toEqual(paths.map(() => '200'));
    now += 1001;
    await Promise.all(streams.map(({ over }) => over));
    expect((await ask('GET', '/v1/sessions', undefined, headers)).status).toBe(401);
    await ask('POST', '/v1/sessions/s/cancel');
    await others.until(({ json: event }) => event['type'] === 'finished');
  });

  test('are listed without their secrets', async () => {
    const { ask, token } = await rig();
    const { text } = await ask('GET', '/v1/tokens');
    expect(text).toContain('"owner"');
    expect(text).not.toContain(token);
    expect(text).not.toContain('hash');
  });

  test('are exchanged for a cookie that requires the page key and ends with its token', async () => {
    const { ask, token, tokens } = await rig();
    const { cookie, key, set } = await signedIn(ask, token);
    expect(set).toMatch(/HttpOnly; SameSite=Strict$/);
    expect(set + key).not.toContain(token);
    const status = async (value: string, page: Record<string, string>) =>
      (await ask('GET', '/v1/sessions', undefined, { authorization: '', cookie: value, ...page })).status;
    expect(await status(cookie, { 'cobbler-page': key })).toBe(200);
    // Another client, such as a server on another port of this host, gets the cookie but not the key.
    expect(await status(cookie, {})).toBe(401);
    expect(await status(cookie, { 'cobbler-page': '' })).toBe(401);
    const other = await signedIn(ask, token);
    expect(await status(cookie, { 'cobbler-page': other.key })).toBe(401);
    expect(await status(`${cookie.slice(0, -2)}xx`, { 'cobbler-page': key })).toBe(401);
    const [, id = ''] = cookie.split('=');
    const later = `cobbler=${id.replace(/\.\d+\./, '.99999999999999.')}`;
    expect(await status(later, { 'cobbler-page': key })).toBe(401);
    expect((await ask('POST', '/v1/cookie', { token: 'cbk_wrong' }, { authorization: '' })).status).toBe(401);
    tokens.rotate();
    expect(await status(cookie, { 'cobbler-page': key })).toBe(401);
  });

  test('are managed with a token only: a cookie cannot list, create or delete them', async () => {
    const { ask, token, tokens } = await rig();
    const { cookie, key } = await signedIn(ask, token);
    const page = { authorization: '', cookie, 'cobbler-page': key };
    const { id } = tokens.add({ name: 'phone', scopes: ['read'] });
    const before = tokens.list();
    const answers = await Promise.all([
      ask('GET', '/v1/tokens', undefined, page),
      ask('POST', '/v1/tokens', { name: 'more', scopes: ['admin'] }, page),
      ask('DELETE', `/v1/tokens/${id}`, undefined, page),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(tokens.list()).toEqual(before);
  });

  test('end the stream of a page when its cookie expires', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const { ask, token, watch } = await rig({ tokens: new TokenStore(undefined, () => now) });
    await ask('POST', '/v1/sessions', { id: 's' });
    const { cookie, key } = await signedIn(ask, token);
    const headers = { authorization: '', cookie, 'cobbler-page': key };
    const events = await watch('/v1/sessions/s/events', headers);
    expect(events.headers['status']).toBe('200');
    now += 12 * 3_600_000;
    await events.over;
    expect((await ask('GET', '/v1/sessions', undefined, headers)).status).toBe(401);
  });
});
