import { join } from 'node:path';
import type { ProgramStart } from '../process/sandbox.ts';
import type { HostNetwork } from './host-proxy.ts';
import { HostProxy } from './host-proxy.ts';

/** A program that connects through a proxy. */
interface ProxiedProgram {
  /** Options of bwrap. */
  readonly mounts: readonly string[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Closes the proxy. Returns which connections it refused, in words. */
  close(): readonly string[];
}

/** The port of the bridge. Each program has a loopback network of its own, in which no other program listens yet. */
const port = 23_128;

/** The path of the proxy's socket in the sandbox. */
const socketInside = '/dev/cobbler-proxy';

/**
 * Forwards the port to the socket. When it listens, it closes its output, whose number must not become that of a socket. A time limit sends SIGTERM to every process,
 * but the program still needs its connections then.
 */
const bridge = `
const { closeSync, openSync } = require('node:fs');
const { connect, createServer } = require('node:net');
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => {});
const allowHalfOpen = true;
createServer({ allowHalfOpen }, (one) => {
  const other = connect({ path: '${socketInside}', allowHalfOpen });
  for (const [from, to] of [[one, other], [other, one]])
    from.pipe(to).on('error', () => {}).on('close', () => from.destroy());
}).listen(${port}, '127.0.0.1', () => {
  closeSync(1);
  openSync('/dev/null', 'w');
});`;

/**
 * Starts the bridge, waits until it has closed its output and becomes the program, so that exit code and signals are
 * those of the program. The bridge is not its child, because some programs wait for all their children.
 */
const script = ': "$( (NODE_OPTIONS= "$1" -e "$2" </dev/null 2>/dev/null &) )"; shift 2; exec "$@"';

const address = `http://127.0.0.1:${port}`;
const direct = 'localhost,127.0.0.1,::1';
const env = {
  ...{ HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: direct },
  ...{ http_proxy: address, https_proxy: address, no_proxy: direct },
  NODE_USE_ENV_PROXY: '1',
};

let count = 0;

/** Starts a proxy for one program, whose socket is in the given directory. */
export function throughProxy(
  network: HostNetwork,
  directory: string,
  argv: ProgramStart['argv'],
): ProxiedProgram {
  count += 1;
  const socket = join(directory, `proxy-${count}`);
  const proxy = new HostProxy(network, socket);
  return {
    mounts: ['--ro-bind', socket, socketInside],
    argv: ['/bin/sh', '-c', script, 'sh', process.execPath, bridge, ...argv],
    env,
    close: () => proxy.close(),
  };
}
