import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { HostConnection, HostNetwork } from '@cobbler/agent/sandbox';
import { bwrapSandbox, parseAllowedHost, seatbeltSandbox } from '@cobbler/agent/sandbox';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { allowsHost } from '../../../src/node/allowed-host.ts';
import { connectTo } from '../../../src/node/sandbox/connect-to.ts';
import { HostProxy } from '../../../src/node/sandbox/host-proxy.ts';
import { isPublicAddress, isPublicBeside } from '../../../src/node/sandbox/public-address.ts';

const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'proxy-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

/** A proxy whose internet is one server on this machine. */
async function setup(more: Partial<HostNetwork> = {}) {
  const server = createHttpServer({ maxHeaderSize: 65_536 }, (request, response) => {
    response.end(`${request.url} served`);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const seen: HostConnection[] = [];
  const path = join(folder(), 'proxy');
  const network: HostNetwork = {
    hosts: ['good.example'],
    onConnection: (one) => void seen.push(one),
    resolve: async () => ['93.184.216.34'],
    connect: () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
    ...more,
  };
  const proxy = new HostProxy(network, path);
  const sockets: Socket[] = [];
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const open = async () => {
    const socket = connect(path);
    sockets.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  };
  const ask = async (request: string) => {
    const socket = await open();
    socket.write(request);
    return await textOf(socket);
  };
  return { proxy, seen, open, ask };
}

const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`;

describe('a list of hosts', () => {
  it.each([
    ['good.example', 'good.example', [80, 443]],
    ['Good.Example.', 'good.example', [80, 443]],
    ['*.good.example:8443', '*.good.example', [8443]],
    ['b\u00fccher.example', 'xn--bcher-kva.example', [80, 443]],
  ])('contains names: %s', (text, name, ports) => expect(parseAllowedHost(text)).toEqual({ name, ports }));

  it.each([
    ...['127.0.0.1', '10.1:443', '0x7f.1', '2130706433', '[::1]', '[::1]:443', '::1', '*', '*.com', ''],
    ...['a b', 'http://good.example', 'good.example/x', 'user@good.example', 'good.example:0', 'a:65536'],
    ...['good.example:http', '*good.example', 'a.*.example', 'good.example\r\nevil.example'],
  ])('does not contain %j', (text) => {
    expect(parseAllowedHost(text)).toBeUndefined();
    expect(() => bwrapSandbox({ workspace: tmpdir(), network: { hosts: [text] } }, '/bwrap')).toThrow(
      /hosts\[0\] is invalid.*Use HOST/,
    );
  });

  it.each([
    ['good.example', 'good.example', 443, true],
    ['good.example', 'good.example', 8443, false],
    ['good.example', 'sub.good.example', 443, false],
    ['*.good.example', 'a.b.good.example', 443, true],
    ['*.good.example', 'good.example', 443, false],
    ['*.good.example', 'evilgood.example', 443, false],
    ['good.example:8443', 'good.example', 443, false],
  ])('%s allows %s:%i: %s', (text, host, port, allowed) => {
    const [entry] = [parseAllowedHost(text)];
    expect(entry !== undefined && allowsHost(entry, host, port)).toBe(allowed);
  });

  it('needs bubblewrap', () => {
    const options = { workspace: tmpdir(), network: { hosts: ['good.example'] } };
    expect(() => seatbeltSandbox(options)).toThrow(/network\.hosts needs bubblewrap/);
  });
});

describe('a public address', () => {
  it.each(['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::200e'])(
    'is allowed: %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.9.9.9', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.1', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1'],
    ...['203.0.113.1', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', 'fc00::1'],
    ...[
      'fd12::1',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      '2001::1',
      '2001:db8::1',
      '2002:7f00:1::',
    ],
    ...['3fff::1', 'good.example', ''],
  ])('is not %j [P21]', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    ['8.8.8.8', false],
    ['8.8.8.9', true],
    ['2606:4700::1', false],
    ['2606:4700::2', false],
    ['2606:4701::1', true],
    ['168.63.129.16', false],
  ])('of this machine or its IPv6 network is not public: %s is %s [P21]', (address, expected) => {
    const common = { netmask: '', mac: '', internal: false } as const;
    const interfaces = {
      eth0: [
        { ...common, family: 'IPv4', address: '8.8.8.8', cidr: '8.8.8.8/24' },
        { ...common, family: 'IPv6', address: '2606:4700::1', cidr: '2606:4700::1/64', scopeid: 0 },
      ],
    } as const;
    expect(isPublicBeside(interfaces, address)).toBe(expected);
  });
});

describe('the proxy of a sandbox', () => {
  it('forwards a request to a listed host, and reports it', async () => {
    const { ask, seen } = await setup();
    expect(await ask(get('http://good.example/a?b'))).toMatch(/200 OK[\s\S]*\/a\?b served/);
    expect(seen).toEqual([{ host: 'good.example', port: 80, allowed: true }]);
  });

  it('names a refused host and how to allow it, to the program and at the end [P21]', async () => {
    const { ask, seen, proxy } = await setup();
    const rule = 'The sandbox does not allow connections to evil.example:80. To allow them, the user adds';
    expect(await ask(get('http://evil.example/'))).toContain(`${rule} evil.example:80 to the hosts`);
    expect(seen).toEqual([{ host: 'evil.example', port: 80, allowed: false }]);
    expect(proxy.close()).toEqual([expect.stringContaining(rule)]);
  });

  it('reports a name that cannot be resolved, and a connection that fails', async () => {
    const missing = await setup({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await missing.ask(get('http://good.example/'))).toMatch(
      /502 [\s\S]*The name good\.example was not found/,
    );
    const broken = await setup({ connect: () => connect('/nowhere/socket') });
    const tunnel = 'CONNECT good.example:443 HTTP/1.1\r\n\r\n';
    expect(await broken.ask(tunnel)).toMatch(/502 [\s\S]*connection to good\.example:443 failed: .*ENOENT/);
  });

  it('resolves a name once, and connects to the addresses that it has checked [P21]', async () => {
    const answers = [['93.184.216.34', '10.0.0.1'], ['127.0.0.1']];
    const used: unknown[] = [];
    const { ask } = await setup({
      resolve: async () => answers.shift() ?? [],
      connect: (addresses, port) => {
        used.push([addresses, port]);
        return connect('/nowhere/socket');
      },
    });
    await ask(get('http://good.example/'));
    expect(used).toEqual([[['93.184.216.34'], 80]]);
    expect(await ask(get('http://good.example/'))).toContain('this name has a private address');
    expect(used).toHaveLength(1);
  });

  it('tries the next address of a name if one does not respond', async () => {
    const server = createHttpServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const socket = connectTo(['127.0.0.2', '127.0.0.1'], port);
    await once(socket, 'connect');
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  it.each([
    ['closes the connection', 'x'],
    [
      'switches to another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
    ['ends in the middle', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
  ])('ends the request if the server %s', async (_name, reply) => {
    const server = createServer((socket) => void socket.once('data', () => socket.end(reply)));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { ask } = await setup({ connect: () => connect(port, '127.0.0.1') });
    expect(await ask(get('http://good.example/')).catch(() => '')).not.toContain('served');
  });

  it('survives a handler that throws', async () => {
    const { ask } = await setup({
      onConnection: () => {
        throw new Error('a bug');
      },
    });
    expect(await ask(get('http://good.example/'))).toBe('');
  });

  it('has one request at a time on each connection', async () => {
    const { ask, seen } = await setup();
    await ask(`GET http://good.example/1 HTTP/1.1\r\nHost: x\r\n\r\n${get('http://good.example/2')}`);
    expect(seen.length).toBeLessThanOrEqual(1);
  });

  it('cannot listen at a path that is too long, and says what to do', () => {
    const path = join(folder(), 'x'.repeat(200));
    expect(() => new HostProxy({ hosts: [] }, path)).toThrow(/cannot listen at .*Set TMPDIR/);
  });
});

describe('the limits of the proxy', () => {
  it('are 256 connections at the same time; more are closed, and the output says so [P29]', async () => {
    const { open, proxy } = await setup();
    for (let count = 0; count < 256; count += 1) await open();
    const ended = await textOf(await open()).catch(() => '');
    expect(ended).toBe('');
    expect(proxy.close()).toEqual(['The sandbox allows at most 256 connections at the same time.']);
  });

  it('are 16 KiB for the header of a request [P29]', async () => {
    const { ask } = await setup();
    const header = (bytes: number) => `X: ${'x'.repeat(bytes)}\r\n`;
    expect(await ask(get('http://good.example/', header(16_000)))).toContain('200 OK');
    expect(await ask(get('http://good.example/', header(16_400)))).toContain('431 ');
  });

  it('are five minutes without data, after which the next check closes a connection [P29]', async () => {
    const clock = fakeRuntime();
    const { open } = await setup({ runtime: clock });
    const [idle, used] = [await open(), await open()];
    await vi.waitFor(() => expect(clock.timers).toBe(2));
    const ended = textOf(idle);
    const use = async () => {
      used.write('GET http://good.example/ HTTP/1.1\r\nHost: x\r\n\r\n');
      const [reply] = await once(used, 'data');
      return String(reply);
    };
    await clock.advance(299_999);
    expect(clock.timers).toBe(2);
    expect(await use()).toContain('200 OK');
    await clock.advance(1);
    expect(await ended).toBe('');
    expect(await use()).toContain('200 OK');
    await clock.advance(300_000);
    expect(await use()).toContain('200 OK');
    await clock.advance(600_000);
    await once(used, 'close');
  });
});
