// `npm run bench -- soak --minutes 60`: clients of all kinds use a `cobbler serve` process for an hour. Its resources
// are measured each minute, while all clients are paused and every session is deleted. Exits with 1 if memory or
// descriptors have grown since minute 10, or if the server made a mistake.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '@cobbler/agent/testing';
import { Caller } from './caller.ts';
import { CobblerProcess } from './cobbler-process.ts';
import { startModelService } from './model-service.ts';
import { SoakLoad } from './soak-load.ts';
import type { Moment } from './soak-verdict.ts';
import { firstMinute, momentText, verdictOf } from './soak-verdict.ts';

const options = {
  minutes: { type: 'string', default: '60' },
  clients: { type: 'string', default: '8' },
  seed: { type: 'string', default: '1' },
  /** Length of a minute in seconds; shorter for a test. */
  minute: { type: 'string', default: '60' },
} as const;

/** Minimum time per minute for which the clients are paused, in milliseconds; idle connections are closed by then. */
const restMs = 3_000;

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const minutes = Number(values.minutes);
  if (!(minutes > firstMinute)) throw new Error(`A soak must be longer than ${firstMinute} minutes.`);
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-soak-'));
  const model = await startModelService();
  const server = await CobblerProcess.start({ modelUrl: model.url, folder });
  // Stop the server if the soak is interrupted.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void server.stop('SIGKILL').finally(() => process.exit(130)));
  }
  try {
    writeFileSync(join(server.workspace, 'notes.txt'), 'A line of notes.\n'.repeat(100));
    const minuteMs = Number(values.minute) * 1000;
    return await soak(server, {
      minutes,
      minuteMs,
      clients: Number(values.clients),
      seed: Number(values.seed),
    });
  } finally {
    await server.stop();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Plan {
  readonly minutes: number;
  readonly minuteMs: number;
  readonly clients: number;
  readonly seed: number;
}

async function soak(server: CobblerProcess, { minutes, minuteMs, clients, seed }: Plan): Promise<number> {
  const caller = new Caller(server);
  const load = new SoakLoad(caller, seededRandom(seed));
  const moments: Moment[] = [];
  const began = Date.now();
  for (let minute = 1; minute <= minutes; minute += 1) {
    load.work(clients);
    await pause(began + minute * minuteMs - restMs - Date.now());
    await load.rest();
    if (!server.isAlive) throw new Error(`The server ended in minute ${minute}:\n${server.lastWords}`);
    moments.push(await lookAt(server, caller, minute));
    print(momentText(moments.at(-1), load.counts));
    for (const fault of load.faults.splice(0)) {
      print(`  WRONG: ${fault}`);
      moments.at(-1)?.faults.push(fault);
    }
  }
  const { lines, isKept } = verdictOf(moments);
  for (const line of lines) print(line);
  return isKept ? 0 : 1;
}

/** Measures the resources of the idle server. */
async function lookAt(server: CobblerProcess, caller: Caller, minute: number): Promise<Moment> {
  const { json } = await caller.ask('GET', '/v1/sessions?limit=200');
  const left = json['items'] as { id: string }[];
  for (const { id } of left) await caller.ask('DELETE', `/v1/sessions/${id}`);
  caller.release();
  await pause(restMs - 1_000);
  const held = await server.held();
  const faults = held.warnings.map((warning) => `Node warned: ${warning}`);
  if (left.length > 0) faults.push(`${left.length} sessions remain.`);
  return { minute, ...held, descriptors: server.descriptors(), cpuMs: server.cpuMs(), faults };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`soak: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
