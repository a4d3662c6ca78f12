import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import type { HostConnection, HostNetwork } from '@cobbler/agent/sandbox';
import { bwrapSandbox } from '@cobbler/agent/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { status } from './world.ts';

const secret = 'what no command may get';
const publicAddress = '93.184.216.34';

/** Names whose addresses are not public. All of them are listed. */
const inside: Readonly<Record<string, string>> = {
  loopback: '127.0.0.1',
  loopback6: '::1',
  mapped: '::ffff:127.0.0.1',
  private: '10.1.2.3',
  metadata: '169.254.169.254',
  shared: '100.64.0.1',
  local6: 'fe80::1',
  translated: '64:ff9b::7f00:1',
  none: '0.0.0.0',
  many: '224.0.0.1',
};

let base: string;
let port: number;
let seen: HostConnection[] = [];
/** What the allowed server received: the Host headers and the path. */
let received: string[] = [];

const packument = JSON.stringify({
  name: 'left',
  'dist-tags': { latest: '1.2.3' },
  versions: { '1.2.3': { name: 'left', version: '1.2.3' } },
});
/** Answers as the allowed server, which tells the secret if it is asked for another host, as a shared server does. */
const good = createServer(async (request, response) => {
  const hosts = request.rawHeaders.filter((_, at, all) => all[at - 1]?.toLowerCase() === 'host');
  received.push(`${hosts} ${request.url}`);
  const body = await text(request);
  const isOwn = /^(sub\.)?good\.example(:443)?$/.test(String(hosts));
  response.setHeader('content-type', 'application/json');
  response.end(request.url === '/left' ? packument : isOwn ? `the good page\n${body}` : secret);
});
/** Every other server, on this machine or elsewhere. */
const evil = createServer((_request, response) => void response.end(secret));

const portOf = (server: typeof good) => (server.address() as AddressInfo).port;

const network: HostNetwork = {
  hosts: [
    'Good.Example.',
    '*.good.example:8443',
    ...Object.keys(inside).map((name) => `${name}.inside.example`),
  ],
  onConnection: (one) => void seen.push(one),
  resolve: async (host) => [inside[host.split('.')[0] ?? ''] ?? publicAddress],
  connect: (addresses, to) => {
    const isGood =
      addresses[0] === publicAddress &&
      [80, 443, 8443].includes(to) &&
      seen.at(-1)?.host.endsWith('good.example');
    return connect({ port: portOf(isGood ? good : evil), host: '127.0.0.1', allowHalfOpen: true });
  },
};

/** Sends its argument to the proxy as it is, and prints what comes back. */
const raw = `
const to = process.argv[3] ?? { port: 23128, host: '127.0.0.1' };
const socket = require('node:net').connect(to, () => socket.end(JSON.parse(process.argv[2])));
socket.on('error', () => {}).pipe(process.stdout);`;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hosts-')));
  writeFileSync(join(base, 'raw.cjs'), raw);
  for (const server of [good, evil])
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  port = portOf(evil);
});

afterAll(() => {
  for (const server of [good, evil]) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(base, { recursive: true, force: true });
});

async function run(script: string, options: { readonly timeoutMs?: number; readonly mark?: string } = {}) {
  seen = [];
  received = [];
  const sandbox = bwrapSandbox(
    { workspace: base, env: { HOME: base, PATH: '/usr/bin:/bin' }, network },
    status.works ? status.program : 'bwrap',
  );
  const more = { HOME: base, NODE: process.execPath, PORT: String(port), MARK: options.mark ?? '' };
  const { timeoutMs = 60_000 } = options;
  const end = await superviseProcess({
    argv: ['/bin/sh', '-c', `exec 2>&1; ${script}`],
    cwd: base,
    env: childEnvironment(process.env, more),
    sandbox,
    timeoutMs,
    graceMs: 5000,
  }).ended;
  return { ...end, output: end.stdout.text() };
}

const send = (request: string) => `"$NODE" raw.cjs '${JSON.stringify(request)}'`;
const last = 'Connection: close\r\n\r\n';
const toGood = (more = '') => `GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n${more}`;
const toEvil = `GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n${last}`;
const tunnelled = `GET / HTTP/1.1\r\nHost: good.example\r\n${last}`;
const smuggled = `GET / HTTP/1.1\r\nHost: evil.example\r\n${last}`;

interface Attack {
  readonly name: string;
  readonly script: string;
  /** What the proxy reports. Default: nothing, because the request is not valid or does not arrive. */
  readonly refused?: string;
  /** True if the proxy rejects the request itself. */
  readonly isInvalid?: boolean;
}

const attacks: readonly Attack[] = [
  {
    name: 'a direct connection',
    script: `"$NODE" -e 'require("net").connect(+process.env.PORT).pipe(process.stdout)'`,
  },
  { name: 'a request that ignores the proxy', script: `curl -sS --noproxy '*' "http://localhost:$PORT/"` },
  {
    name: 'a loopback address through the proxy',
    script: `curl -sS --noproxy '' "http://127.0.0.1:$PORT/"`,
    refused: '127.0.0.1',
  },
  { name: 'a public address', script: 'curl -sS http://93.184.216.34/', refused: '93.184.216.34:80' },
  {
    name: 'a public address in hexadecimal',
    script: send(`GET http://0x5db8d822/ HTTP/1.1\r\nHost: x\r\n${last}`),
    refused: '93.184.216.34:80',
  },
  {
    name: 'a public IPv6 address',
    script: `curl -sSg 'http://[2606:4700::1111]/'`,
    refused: '[2606:4700::1111]:80',
  },
  {
    name: 'a tunnel to an address',
    script: send(`CONNECT 93.184.216.34:443 HTTP/1.1\r\n\r\n${tunnelled}`),
    refused: '93.184.216.34:443',
  },
  { name: 'another port', script: 'curl -sS http://good.example:8080/', refused: 'good.example:8080' },
  {
    name: 'a tunnel to another port',
    script: 'curl -sSp http://good.example:22/',
    refused: 'good.example:22',
  },
  {
    name: 'the usual port of a host that is listed with another',
    script: 'curl -sSp http://sub.good.example/',
    refused: 'sub.good.example:80',
  },
  {
    name: 'the domain above a wildcard',
    script: 'curl -sSp http://good.example:8443/',
    refused: 'good.example:8443',
  },
  { name: 'another host', script: 'curl -sS http://evil.example/', refused: 'evil.example:80' },
  { name: 'a tunnel to another host', script: 'curl -sSp http://evil.example/', refused: 'evil.example:80' },
  {
    name: 'a host that ends like a listed one',
    script: 'curl -sS http://notgood.example/',
    refused: 'notgood.example:80',
  },
  {
    name: 'a host that begins like a listed one',
    script: 'curl -sS http://good.example.evil.example/',
    refused: 'good.example.evil.example:80',
  },
  {
    name: 'another host in upper case with a dot',
    script: 'curl -sSp http://EVIL.example.:443/',
    refused: 'evil.example:443',
  },
  {
    name: 'the socket of the proxy without the bridge',
    script: `${send(toEvil)} /dev/cobbler-proxy`,
    refused: 'evil.example:80',
  },
  {
    name: 'a Host header with another host',
    script: `curl -sS -H 'Host: evil.example' http://good.example/`,
  },
  { name: 'two Host headers', script: send(toGood(`Host: evil.example\r\n${last}`)) },
  {
    name: 'a path instead of a URL',
    isInvalid: true,
    script: send(`GET / HTTP/1.1\r\nHost: good.example\r\n${last}`),
  },
  {
    name: 'a URL of https',
    isInvalid: true,
    script: send(`GET https://good.example/ HTTP/1.1\r\nHost: good.example\r\n${last}`),
  },
  {
    name: 'a listed host as the user name',
    isInvalid: true,
    script: send(`GET http://good.example@evil.example/ HTTP/1.1\r\nHost: good.example\r\n${last}`),
  },
  {
    name: 'a listed host and port as the user name',
    isInvalid: true,
    script: send(`GET http://good.example:80@evil.example/ HTTP/1.1\r\nHost: good.example\r\n${last}`),
  },
  {
    name: 'a tunnel with a user name',
    isInvalid: true,
    script: send(`CONNECT good.example:443@evil.example:443 HTTP/1.1\r\n\r\n${tunnelled}`),
  },
  {
    name: 'a backslash in the URL',
    isInvalid: true,
    script: send(`GET http://evil.example\\@good.example/ HTTP/1.1\r\nHost: good.example\r\n${last}`),
  },
  {
    name: 'a line break in CONNECT',
    script: send(`CONNECT good.example:443\r\nHost: evil.example:443 HTTP/1.1\r\n\r\n${tunnelled}`),
  },
  {
    name: 'an encoded line break in CONNECT',
    script: send(`CONNECT good.example:443%0d%0aHost:evil.example:443 HTTP/1.1\r\n\r\n${tunnelled}`),
  },
  {
    name: 'a Host header in CONNECT',
    script: send(`CONNECT evil.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n${tunnelled}`),
    refused: 'evil.example:443',
  },
  {
    name: 'a second request on one connection',
    script: 'curl -sS http://good.example/ http://evil.example/',
    refused: 'evil.example:80',
  },
  { name: 'a second request before the first response', script: send(`${toGood('\r\n')}${toEvil}`) },
  {
    name: 'a request in the body of another',
    script: send(
      toGood(
        `Transfer-Encoding: chunked\r\n${last}${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
      ),
    ),
  },
  {
    name: 'a request with two lengths',
    script: send(
      toGood(`Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`),
    ),
  },
  ...Object.entries(inside).map(([name, address]) => ({
    name: `a listed name with the address ${address}`,
    script: `curl -sS http://${name}.inside.example/; curl -sSp http://${name}.inside.example:443/`,
    refused: `${name}.inside.example:80`,
  })),
];

describe.skipIf(!status.works)('a command with a list of hosts (needs bubblewrap)', () => {
  it.for(attacks)('cannot use $name [P21]', async ({ script, refused, isInvalid = false }) => {
    const { output, undone } = await run(script);
    expect(output).not.toContain(secret);
    if (isInvalid) expect(output).toContain('400 Bad Request');
    expect(received.every((one) => one.startsWith('good.example /'))).toBe(true);
    if (refused === undefined) expect(seen.filter(({ host }) => host !== 'good.example')).toEqual([]);
    else expect(undone.join()).toContain(`does not allow connections to ${refused}`);
  });

  it.each([
    ['curl with a request', 'curl -sS http://GOOD.example./'],
    ['curl with a tunnel', 'curl -sSp http://good.example:443/'],
    ['curl with a subdomain and its port', 'curl -sSp http://sub.good.example:8443/ -H Host:good.example'],
    ['fetch of Node', `"$NODE" -e 'fetch("http://good.example/").then((r) => r.text()).then(console.log)'`],
    [
      'a request with a body',
      `curl -sS -d a=b http://good.example/ | grep a=b && curl -sS -X GET -H Transfer-Encoding:chunked -d c=d http://good.example/ | grep -B1 c=d`,
    ],
  ])('reaches a listed host: %s', async (_name, script) => {
    const { output, code, undone } = await run(script);
    expect({ output, code, undone }).toMatchObject({
      output: expect.stringMatching(/the good page/),
      code: 0,
      undone: [],
    });
    expect(seen.every(({ allowed }) => allowed)).toBe(true);
  });

  it('reaches a registry with npm', async () => {
    const { output } = await run('npm view left version --registry http://good.example/');
    expect(output).toContain('1.2.3');
  });

  it('learns in its output which host was refused', async () => {
    const { output, undone } = await run('curl -sSp http://evil.example:443/');
    expect(output).toContain('403');
    expect(undone).toEqual([
      'The sandbox does not allow connections to evil.example:443. To allow them, the user adds evil.example:443 to the hosts of the sandbox (--allow-host).',
    ]);
  });

  it('ends with its own exit code or signal, and sees no other child', async () => {
    expect(await run('exit 3')).toMatchObject({ cause: 'exit', code: 3 });
    expect(await run('kill -9 $$')).toMatchObject({ cause: 'exit', code: 137 });
    expect(await run('wait; echo over')).toMatchObject({ code: 0, output: 'over\n' });
    const children = `python3 -c 'import os; os.wait()'`;
    expect((await run(children)).output).toContain('No child processes');
  });

  it('still has its connections when a time limit ends it, and nothing of it remains', async () => {
    const mark = `mark-${process.pid}-${Math.floor(performance.now())}`;
    const script = `trap 'curl -sS http://good.example/; exit' TERM; echo ready; sleep 60 & wait`;
    const { output, cause } = await run(script, { timeoutMs: 3000, mark });
    expect({ output, cause }).toEqual({ output: 'ready\nthe good page\n', cause: 'timeout' });
    expect(processesWithMark(mark)).toEqual([]);
  });

  it('gets the bridge even if Node is in the home directory', async () => {
    const { execPath } = process;
    copyFileSync(execPath, join(base, 'node'));
    process.execPath = join(base, 'node');
    const workspace = mkdtempSync(join(tmpdir(), 'hosts-'));
    try {
      const { stdout } = await superviseProcess({
        argv: ['curl', '-sS', 'http://good.example/'],
        cwd: workspace,
        env: { PATH: '/usr/bin:/bin' },
        sandbox: bwrapSandbox(
          { workspace, env: { HOME: base }, network },
          status.works ? status.program : '',
        ),
      }).ended;
      expect(stdout.text()).toBe('the good page\n');
    } finally {
      process.execPath = execPath;
      rmSync(workspace, { recursive: true });
    }
  });
});

/** Returns the ids of the processes that were started with this value in their environment. */
function processesWithMark(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(`MARK=${mark}`);
    } catch {
      return false;
    }
  });
}
