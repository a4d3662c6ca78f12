import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ownPort } from './own-port.ts';

/** The host name in the files of `deploy/`. */
export const site = 'cobbler.example.org';

/** A proxy that runs with its configuration file from `deploy/`. */
export interface ProxyKind {
  readonly name: 'nginx' | 'caddy';
  /** The Debian package that contains the proxy. */
  readonly comesFrom: string;
  readonly version: string;
  /** Returns the command that starts the proxy with the files in a directory. */
  command(folder: string): readonly string[];
  /** Returns the configuration of `deploy/` with other addresses and certificates. */
  configure(file: string, place: Place): string;
}

interface Place {
  readonly folder: string;
  /** The port of the proxy. */
  readonly port: number;
  /** The URL of the server. */
  readonly server: string;
}

const deploy = (name: string) => readFileSync(new URL(`../../../../deploy/${name}`, import.meta.url), 'utf8');

export const nginx: ProxyKind = {
  name: 'nginx',
  comesFrom: 'nginx-light',
  version: '-v',
  command: (folder) => [
    'nginx',
    '-p',
    folder,
    '-c',
    join(folder, 'nginx.conf'),
    '-e',
    join(folder, 'error.log'),
  ],
  configure(file, { folder, port, server }) {
    const own = file
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace(/server \{\s+listen 80;[\s\S]*?\n\}/, '')
      .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/cert.pem;`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`)
      .replace('http://127.0.0.1:4370', server);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    return `daemon off; pid ${folder}/pid; worker_processes 1; events {} http { access_log off; ${paths.join(' ')}\n${own}\n}`;
  },
};

export const caddy: ProxyKind = {
  name: 'caddy',
  comesFrom: 'caddy',
  version: 'version',
  command: (folder) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
  configure(file, { folder, port, server }) {
    const own = file
      .replace(
        `\n${site} {`,
        `\nhttps://${site}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
      )
      .replace('127.0.0.1:4370', new URL(server).host);
    return `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${own}`;
  },
};

/** Returns true if the proxy is installed on this machine. */
export function isInstalled({ name, version }: ProxyKind): boolean {
  try {
    execFileSync(name, [version], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a proxy on loopback in front of a server until the test ends. */
export async function behind(kind: ProxyKind, server: string): Promise<Proxied> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-proxy-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const key = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem'), '-subj', `/CN=${site}`];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...key],
    {
      stdio: 'ignore',
    },
  );
  const port = await ownPort();
  const name = kind.name === 'nginx' ? 'nginx.conf' : 'Caddyfile';
  writeFileSync(join(folder, name), kind.configure(deploy(name), { folder, port, server }));
  const [program = '', ...args] = kind.command(folder);
  const { PATH = '' } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => ended(child));
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const proxied = new Proxied(port);
  while (!(await proxied.answers())) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${kind.name} ended:\n${said}`);
  }
  return proxied;
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Sends requests to a proxy under the host name of its site. */
export class Proxied {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** Opens a request. The caller reads or destroys the response. */
  open(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body = '',
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        servername: site,
        rejectUnauthorized: false,
        agent: false,
      };
      const sent = request({ ...options, method, path, headers: { host: site, ...length, ...headers } });
      sent.on('error', reject);
      sent.on('response', resolve);
      sent.end(body);
    });
  }

  async ask(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body = '',
  ): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
    const response = await this.open(method, path, headers, body);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  }

  async answers(): Promise<boolean> {
    try {
      return (await this.ask('GET', '/livez')).status === 200;
    } catch {
      return false;
    }
  }
}
