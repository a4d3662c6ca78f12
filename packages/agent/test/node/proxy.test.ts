import http from 'node:http';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { nodeTransport, proxyOf, readsProxies } from '../../src/node/transport.ts';
import { createAgent } from '../../src/provider/create-agent.ts';
import { AgentError } from '../../src/values/errors.ts';
import { userMessage } from '../../src/values/message.ts';
import { plainWire } from '../support/plain-wire.ts';
import { able } from '../support/provider-rig.ts';

afterEach(() => vi.unstubAllEnvs());

test.skipIf(!readsProxies(process.versions.node))(
  'an error of the proxy names the proxy without its password (needs Node 22.21 or 24.5) [P19]',
  async () => {
    const refusing = http.createServer();
    refusing.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void refusing.close());
    const told = async (proxy: string) => {
      vi.stubEnv('HTTPS_PROXY', proxy);
      vi.stubEnv('https_proxy', '');
      vi.stubEnv('no_proxy', '');
      const wire = plainWire({ endpoint: { url: 'https://api.example/v1', headers: {} } });
      const given = {
        model: 'plain-1',
        capabilities: able,
        retry: { retries: 0 },
        transport: nodeTransport(),
      };
      const run = createAgent(wire, given).run({ messages: [userMessage('x')], tools: [] });
      return AgentError.from(await run.catch((error: unknown) => error)).message;
    };
    expect(await told('http://user:secret@127.0.0.1:1')).toBe(
      'Connecting to api.example through the proxy http://127.0.0.1:1 (HTTPS_PROXY) failed: the connection was refused.',
    );
    const address = refusing.address();
    const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const tunnel = await told(`http://user:secret@${host}`);
    expect(tunnel).toContain(`through the proxy http://${host} (HTTPS_PROXY) failed: `);
    expect(tunnel).not.toContain('secret');
  },
);

test('proxyOf follows the rules of Node: by protocol, lower case first, unless in no_proxy', () => {
  const of = (url: string, env: Record<string, string>) => proxyOf(new URL(url), env);
  const both = {
    https_proxy: 'http://u:p@a.test:1',
    HTTPS_PROXY: 'http://b.test',
    HTTP_PROXY: 'http://c.test',
  };
  expect(of('https://x.test', both)).toEqual({ address: 'http://a.test:1', variable: 'https_proxy' });
  expect(of('https://x.test', { ...both, https_proxy: '' })?.address).toBe('http://b.test');
  expect(of('http://x.test', both)).toEqual({ address: 'http://c.test', variable: 'HTTP_PROXY' });
  expect(of('https://x.test', { HTTPS_PROXY: 'none' })).toBeUndefined();
  for (const no of ['*', 'x.test', '.test', '*.test', 'other, X.test', 'x.test:8443'])
    expect(of('https://x.test:8443', { ...both, NO_PROXY: no }), no).toBeUndefined();
  for (const no of ['test', 'y.test', 'x.test:1', 'ax.test'])
    expect(of('https://x.test:8443', { ...both, no_proxy: no }), no).toBeDefined();
});

test('readsProxies is true from Node 22.21 and 24.5', () => {
  const versions = ['20.19.0', '22.20.0', '22.21.0', '23.11.0', '24.4.1', '24.5.0', '26.0.0'];
  expect(versions.filter(readsProxies)).toEqual(['22.21.0', '24.5.0', '26.0.0']);
});
