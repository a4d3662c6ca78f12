import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { noRestrictions } from '@cobbler/agent/sandbox';
import { claudeCode, codex } from '@cobbler/delegate';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyRelay } from '../src/cli/key-relay.ts';

const key = 'sk-real-key-0123456789';

/** Starts a service and returns its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function open(listener: RequestListener, path = ''): Promise<KeyRelay> {
  const env = { SERVICE_KEY: key, SERVICE_URL: (await serve(listener)) + path, OTHER: 'x' };
  const service = { keys: ['SERVICE_KEY'], address: 'SERVICE_URL', defaultAddress: 'https://unused.example' };
  const relay = await KeyRelay.open(service, env);
  if (relay === undefined) throw new Error('There is no relay.');
  onTestFinished(() => relay.close());
  return relay;
}

/** Sends a request whose target is not normalized, and returns its status. */
function statusOf(
  relay: KeyRelay,
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(relay.address);
    const sent = request({ hostname, port, path, headers }, (response: IncomingMessage) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
}

describe('the relay between a program and its service [P19]', () => {
  it('connects through the proxy of the program, which reaches the relay without it', async () => {
    const seen: unknown[] = [];
    const proxy = await serve(({ url, headers }, response) => {
      seen.push([url, headers['x-api-key']]);
      response.end();
    });
    const address = 'http://service.invalid/base';
    const env = { SERVICE_KEY: key, SERVICE_URL: address, HTTP_PROXY: proxy, NO_PROXY: 'own.example' };
    const service = { keys: ['SERVICE_KEY'], address: 'SERVICE_URL', defaultAddress: address };
    const relay = await KeyRelay.open(service, env);
    onTestFinished(() => relay?.close());
    const placeholder = relay?.env['SERVICE_KEY'] ?? '';
    expect((await fetch(`${relay?.address}/x`, { headers: { 'x-api-key': placeholder } })).status).toBe(200);
    expect(seen).toEqual([['http://service.invalid/base/x', key]]);
    expect(relay?.env).toMatchObject({ HTTP_PROXY: proxy, NO_PROXY: 'own.example,127.0.0.1' });
  });

  it('gives the program a placeholder and its own address, and the service the key', async () => {
    const seen: unknown[] = [];
    const relay = await open(({ url, method, headers }, response) => {
      seen.push([method, url, headers['x-api-key'], headers.authorization]);
      response.end();
    }, '/base/');
    expect(relay.env).toEqual({ SERVICE_KEY: expect.any(String), SERVICE_URL: relay.address, OTHER: 'x' });
    expect(JSON.stringify(relay.env)).not.toContain(key);
    const placeholder = relay.env['SERVICE_KEY'] ?? '';
    await fetch(`${relay.address}/v1/a?b=c`, {
      method: 'POST',
      body: '{}',
      headers: { 'x-api-key': placeholder },
    });
    await fetch(`${relay.address}/v1/d`, { headers: { authorization: `Bearer ${placeholder}` } });
    expect(seen).toEqual([
      ['POST', '/base/v1/a?b=c', key, undefined],
      ['GET', '/base/v1/d', undefined, `Bearer ${key}`],
    ]);
  });

  it('passes bodies, headers and the status on, while they arrive', async () => {
    const half = Promise.withResolvers<void>();
    const relay = await open(async (incoming, response) => {
      let body = '';
      for await (const chunk of incoming) body += chunk;
      response.writeHead(529, { 'x-own': 'yes', 'content-type': 'text/event-stream' });
      response.write(`first ${body} `);
      await half.promise;
      response.end('second');
    });
    const headers = { 'x-api-key': relay.env['SERVICE_KEY'] ?? '' };
    const response = await fetch(relay.address, { method: 'POST', body: 'sent', headers });
    expect([response.status, response.headers.get('x-own')]).toEqual([529, 'yes']);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first sent ');
    half.resolve();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('second');
  });

  it.each([
    ['no key', '/v1', {}],
    ['another key', '/v1', { 'x-api-key': 'cobbler-0000' }],
    ['the real key', '/v1', { 'x-api-key': key }],
    ['an empty bearer token', '/v1', { authorization: 'Bearer ' }],
  ])('rejects a request with %s', async (_what, path, headers) => {
    let requests = 0;
    const relay = await open((_incoming, response) => {
      requests += 1;
      response.end();
    });
    expect(await statusOf(relay, path, headers)).toBe(401);
    expect(requests).toBe(0);
  });

  it.each(['http://evil.example/v1', '//evil.example/v1', '@evil.example/v1', '/../../v1', '/v1/%2e%2E/x'])(
    'sends the key to no other service for the target %s',
    async (path) => {
      const targets: unknown[] = [];
      const relay = await open(({ url, headers }, response) => {
        targets.push([headers.host?.startsWith('127.0.0.1:'), url]);
        response.end();
      });
      const status = await statusOf(relay, path, { 'x-api-key': relay.env['SERVICE_KEY'] ?? '' });
      if (path.startsWith('//')) expect(targets).toEqual([[true, path]]);
      else expect([status === 400 || status === 401, targets]).toEqual([true, []]);
    },
  );

  it('cuts the connection if the service does, and reports a service that is not there', async () => {
    const cut = await open((_incoming, response) => {
      response.write('start');
      setImmediate(() => response.destroy());
    });
    const headers = { 'x-api-key': cut.env['SERVICE_KEY'] ?? '' };
    await expect(fetch(cut.address, { headers }).then((response) => response.text())).rejects.toThrow();
    const service = { keys: ['SERVICE_KEY'], defaultAddress: 'http://127.0.0.1:1' };
    const gone = await KeyRelay.open(service, { SERVICE_KEY: key });
    const placeholder = gone?.env['SERVICE_KEY'] ?? '';
    expect((await fetch(gone?.address ?? '', { headers: { 'x-api-key': placeholder } })).status).toBe(502);
    gone?.close();
  });

  it.each([
    ['a trailer', { trailer: 'x' }],
    ['an expectation', { expect: '100-continue' }],
    ['an upgrade', { connection: 'upgrade', upgrade: 'x' }],
    ['a transfer coding', { te: 'trailers' }],
  ])('survives a request with %s', async (_what, more) => {
    const relay = await open((_incoming, response) => response.end('ok'));
    const headers = { 'x-api-key': relay.env['SERVICE_KEY'] ?? '' };
    await statusOf(relay, '/v1', { ...headers, ...more }).catch(() => undefined);
    expect(await statusOf(relay, '/v1', headers)).toBe(200);
  });

  it.each([
    ['SERVICE_KEY', 'key\r'],
    ['SERVICE_KEY', 'k\u{e9}y'],
    ['SERVICE_URL', 'ftp://127.0.0.1'],
    ['SERVICE_URL', 'nowhere'],
  ])('rejects %s with the value %j before the program starts', async (name, value) => {
    const service = {
      keys: ['SERVICE_KEY'],
      address: 'SERVICE_URL',
      defaultAddress: 'https://unused.example',
    };
    const opened = KeyRelay.open(service, { SERVICE_KEY: key, [name]: value });
    await expect(opened).rejects.toMatchObject({ kind: 'invalid', code: 'bad_option' });
  });

  it('removes keys that the program does not need', async () => {
    const service = { keys: ['SERVICE_KEY'], unneeded: ['SPARE'], defaultAddress: 'https://unused.example' };
    const relay = await KeyRelay.open(service, { SERVICE_KEY: key, SPARE: key });
    relay?.close();
    expect(Object.keys(relay?.env ?? {})).toEqual(['SERVICE_KEY']);
  });

  it('is not opened without a key', async () => {
    const service = { keys: ['SERVICE_KEY'], defaultAddress: 'https://unused.example' };
    expect(await KeyRelay.open(service, { OTHER: 'x', SERVICE_KEY: '' })).toBeUndefined();
  });
});

/** A program that sends a request with what its environment and arguments name, and prints both. */
const program = `#!${process.execPath}
import { writeFileSync } from 'node:fs';
const { ANTHROPIC_API_KEY, OPENAI_API_KEY, ANTHROPIC_BASE_URL } = process.env;
const given = /base_url="([^"]*)"/.exec(process.argv.join(' '))?.[1];
const address = given ?? ANTHROPIC_BASE_URL;
await fetch(address, { headers: { 'x-api-key': ANTHROPIC_API_KEY ?? OPENAI_API_KEY } });
writeFileSync('seen.json', JSON.stringify({ env: process.env, argv: process.argv }));
`;

describe.each([
  ['Claude Code', 'ANTHROPIC', claudeCode],
  ['Codex', 'OPENAI', codex],
] as const)('%s in a sandbox [P19]', (_name, prefix, create) => {
  async function play(sandbox: Sandbox | undefined): Promise<{ seen: unknown[]; given: string }> {
    const folder = mkdtempSync(join(tmpdir(), 'relay-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'program.mjs');
    writeFileSync(path, program);
    chmodSync(path, 0o755);
    const seen: unknown[] = [];
    const url = await serve(({ headers }, response) => {
      seen.push(headers['x-api-key']);
      response.end();
    });
    const env = { PATH: dirname(process.execPath), [`${prefix}_API_KEY`]: key, [`${prefix}_BASE_URL`]: url };
    const backend = create({ path, env, retries: 0, ...(sandbox && { sandbox }) });
    await backend.run({ prompt: 'Go.', workingDir: folder });
    return { seen, given: readFileSync(join(folder, 'seen.json'), 'utf8') };
  }

  it('does not have the key, and its service receives it', async () => {
    const { seen, given } = await play(noRestrictions('off'));
    expect(seen).toEqual([key]);
    expect(given).toContain('cobbler-');
    expect(given).not.toContain(key);
  });
});
