import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { prompts } from './answer.ts';
import type { ContestantName } from './contestant.ts';
import { load } from './job.ts';
import { startModelServer } from './model-server.ts';
import { warmUpScript } from './work.ts';

/** The job of a measured process: many runs that wait for a response. */
export interface WaitingJob {
  readonly contestant: ContestantName;
  readonly waiting: number;
}

/**
 * Returns the heap in bytes that each run takes while it waits for its first response. The service is in the same
 * process, so both ends of the connection are included. Half as many runs wait before the measurement, so that what
 * all runs share is not counted.
 */
export async function heapOfWaiting({ contestant: name, waiting }: WaitingJob): Promise<number> {
  const open = await load(name);
  const model = await startModelServer();
  await open({ url: model.url('t50', name), turns: warmUpScript.turns }).run(prompts.warmUp);
  const service = await startSilentService();
  const contestant = open({ url: service.url, turns: 1 });
  const start = async (count: number) => {
    // They end with the process.
    for (let each = 0; each < count; each += 1) void contestant.run(prompts.work).catch(() => undefined);
    await service.received(count);
    return heapUsed();
  };
  const before = await start(waiting / 2);
  return ((await start(waiting)) - before) / waiting;
}

interface SilentService {
  readonly url: string;
  /** Resolves when that many more requests have arrived completely. */
  received(count: number): Promise<void>;
}

/** Starts a service that never responds. */
async function startSilentService(): Promise<SilentService> {
  let missing = 0;
  let resolve = () => {};
  const server = http.createServer((request) => {
    request.resume().on('end', () => {
      missing -= 1;
      if (missing === 0) resolve();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', 4096, listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received: (count) =>
      new Promise((done) => {
        missing += count;
        resolve = done;
      }),
  };
}

/** Returns the heap that is in use after several collections: one is not enough for chains of finalizers. */
async function heapUsed(): Promise<number> {
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
