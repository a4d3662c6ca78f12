import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '@cobbler/agent/testing';
import { build } from 'esbuild';
import { planOf, price } from './crash-plan.ts';

/** What the service has charged for one scenario. */
export interface ScenarioCharge {
  usd: number;
  requests: number;
  kills: number;
  /** The runs that have received a response. */
  readonly answered: Set<string>;
}

interface Asked {
  readonly scenario: number;
  readonly run: string;
  readonly level: number;
  readonly inputTokens: number;
  readonly maxTokens: number;
}

/**
 * Performs scenarios 1 to `count` in processes that are killed with SIGKILL and started again.
 * @param place a directory for SQLite, or the URL of a PostgreSQL database
 */
export async function performCrashes(place: string, count: number): Promise<Map<number, ScenarioCharge>> {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-crash-'));
  const file = await bundledChild(folder);
  const charges = new Map<number, ScenarioCharge>();
  const random = seededRandom(count);
  let child: ChildProcess | undefined;
  let current = 1;
  const server = createServer(async (request, response) => {
    const body = (await jsonIn(request)) as Asked;
    const send = (answer: object) => response.end(JSON.stringify(answer));
    if (request.url === '/begin') current = body.scenario;
    if (request.url === '/end') current = body.scenario + 1;
    if (request.url !== '/model') return send({});
    const charge = charges.get(body.scenario) ?? {
      usd: 0,
      requests: 0,
      kills: 0,
      answered: new Set<string>(),
    };
    charges.set(body.scenario, charge);
    const outputTokens = random.between(1, body.maxTokens);
    charge.usd += (body.inputTokens * price.input + outputTokens * price.output) / 1_000_000;
    charge.requests += 1;
    const kill = planOf(body.scenario).kills[charge.kills];
    const isKilled = kill !== undefined && charge.requests >= kill.at;
    if (isKilled) charge.kills += 1;
    if (isKilled && !kill.isAnswered) return child?.kill('SIGKILL');
    charge.answered.add(body.run);
    send({ outputTokens, calls: body.level === 1 && random.chance(0.4) });
    return isKilled && setImmediate(() => child?.kill('SIGKILL'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  while (current <= count) {
    const failed = await new Promise<boolean>((resolve) => {
      const args = [file, url, place, String(current), String(count)];
      child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      child.on('exit', (code, signal) => resolve(signal !== 'SIGKILL' && code !== 0));
    });
    if (failed) throw new Error(`The process failed in scenario ${current}.`);
  }
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  return charges;
}

/** Bundles the program, because a start from hundreds of source files takes longer than a scenario. */
async function bundledChild(folder: string): Promise<string> {
  const outfile = join(folder, 'crash-child.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('crash-child.ts', import.meta.url))],
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', conditions: ['@cobbler/source'] },
    // CommonJS packages require modules of Node.
    banner: {
      js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}

async function jsonIn(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}
