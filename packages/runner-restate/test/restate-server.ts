import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One node of a Restate cluster. */
export interface RestateNode {
  readonly ingress: string;
  readonly admin: string;
  kill(): Promise<void>;
}

/** A Restate server on the loopback interface, in a temporary directory: one node or a cluster. */
export interface RestateCluster {
  readonly nodes: readonly RestateNode[];
  readonly ingress: readonly string[];
  readonly admin: readonly string[];
  stop(): Promise<void>;
}

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** Returns the path of the server binary; undefined if it is not installed. */
export function restateBinary(): string | undefined {
  const name = `@restatedev/restate-server-linux-${process.arch === 'arm64' ? 'arm64' : 'x64'}`;
  const places = [
    process.env['COBBLER_RESTATE_BIN'],
    join(root, 'e2e', 'scale', 'node_modules', name, 'bin', 'restate-server'),
  ];
  return places.find((place) => place !== undefined && existsSync(place));
}

/** Returns how to install the server; undefined if it is installed. */
export function missingRestate(): string | undefined {
  if (restateBinary() !== undefined) return undefined;
  return 'no Restate server is installed here (npm run verify -- scale fetches it into e2e/scale; or set COBBLER_RESTATE_BIN)';
}

/** Starts nodes. A cluster of three or more stores all data on two nodes. */
export async function startRestate(count = 1): Promise<RestateCluster> {
  const file = restateBinary();
  if (file === undefined) throw new Error(missingRestate());
  const home = mkdtempSync(join(tmpdir(), 'cobbler-restate-'));
  const places: { readonly ingress: number; readonly admin: number; readonly node: number }[] = [];
  for (let index = 0; index < count; index += 1)
    places.push({ ingress: await freePort(), admin: await freePort(), node: await freePort() });
  const peers = places.map(({ node }) => `http://127.0.0.1:${node}`);
  const children: ChildProcess[] = [];
  const nodes = places.map((place, index) => {
    const name = `n${index + 1}`;
    const child = spawn(
      file,
      ['--base-dir', join(home, name), '--node-name', name, '--listen-mode', 'tcp', '--no-logo'],
      {
        cwd: home,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          DO_NOT_TRACK: '1',
          RESTATE_DISABLE_TELEMETRY: 'true',
          RESTATE_CLUSTER_NAME: 'cobbler-test',
          RESTATE_DEFAULT_NUM_PARTITIONS: '4',
          RESTATE_DEFAULT_REPLICATION: count >= 3 ? '2' : '1',
          RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(peers),
          RESTATE_AUTO_PROVISION: index === 0 ? 'true' : 'false',
          RESTATE_BIND_ADDRESS: `127.0.0.1:${place.node}`,
          RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${place.node}`,
          RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${place.ingress}`,
          RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${place.admin}`,
          // Uses several connections, so that a load balancer can distribute them.
          RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT: count > 1 ? '8' : '128',
          RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256.0 MiB',
          // Otherwise a node can take ten seconds to see handlers registered at another.
          RESTATE_METADATA_UPDATE_INTERVAL: '500ms',
        },
      },
    );
    const log = createWriteStream(join(home, `${name}.log`));
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
    children.push(child);
    return {
      ingress: `http://127.0.0.1:${place.ingress}`,
      admin: `http://127.0.0.1:${place.admin}`,
      kill: () => ended(child),
    };
  });
  for (const [index, { ingress, admin }] of nodes.entries()) {
    await answers(`${admin}/health`, children[index]);
    await answers(`${ingress}/restate/health`, children[index]);
  }
  return {
    nodes,
    ingress: nodes.map(({ ingress }) => ingress),
    admin: nodes.map(({ admin }) => admin),
    async stop() {
      await Promise.all(children.map(ended));
      if (process.env['COBBLER_KEEP'] === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function answers(url: string, child: ChildProcess | undefined): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // Not yet.
    }
    if (child?.exitCode !== null || Date.now() > deadline)
      throw new Error(`Restate does not respond at ${url}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

let asked = 0;

/**
 * Returns a port that stays free until the caller uses it: below the range from which systems
 * assign ports, and from a different part of it in every process.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    asked += 1;
    const port = 10_000 + ((process.pid * 16 + asked) % 20_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
