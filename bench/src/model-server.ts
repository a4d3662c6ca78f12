import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { answersOf, prompts } from './answer.ts';
import type { Script } from './work.ts';
import { startScript, warmUpScript, works } from './work.ts';

/** The requests of one contestant for one job, without the warm-up. */
export interface Received {
  readonly requests: number;
  readonly bytes: number;
  /** Bytes of all requests by turn. */
  readonly bytesByTurn: readonly number[];
  /** Arrival of the first request on the machine's monotonic clock, in milliseconds. */
  readonly firstAt: number | undefined;
}

/** A model that responds from memory. */
export interface ModelServer {
  /** Returns the base URL for a contestant's job. */
  url(work: string, job: string): string;
  received(job: string): Received;
  close(): Promise<void>;
}

interface SessionStats {
  bytesByTurn: number[];
  requests: number;
  firstAt: number | undefined;
}

/** Returns milliseconds on the clock that all processes of the machine share. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Serves `/<work>/<job>/v1/messages`. The turn is the number of responses in the request, so a contestant that sends
 * less than the complete history never finishes. `GET /<job>` returns what was received.
 */
export async function startModelServer(extra: Readonly<Record<string, Script>> = {}): Promise<ModelServer> {
  const scripts = new Map<string, readonly Buffer[]>([['cold', answersOf(startScript)]]);
  for (const { name, script } of works) scripts.set(name, answersOf(script));
  for (const [name, script] of Object.entries(extra)) scripts.set(name, answersOf(script));
  const warmUp = answersOf(warmUpScript);
  const tallies = new Map<string, SessionStats>();
  const server = http.createServer((request, response) => {
    const at = machineTime();
    const [, first = '', job = ''] = request.url?.split('/') ?? [];
    if (request.method === 'GET') return tell(response, 200, receivedOf(tallies.get(first)));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const turn = answersIn(body);
      if (isWarmUp(body)) return stream(response, warmUp[turn]);
      count(tallies, job, { turn, bytes: body.length, at });
      stream(response, scripts.get(first)?.[turn]);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (work, job) => `http://127.0.0.1:${port}/${work}/${job}`,
    received: (job) => receivedOf(tallies.get(job)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** True for a short body that contains the warm-up prompt. */
function isWarmUp(body: Buffer): boolean {
  return body.length < 16_384 && body.includes(prompts.warmUp);
}

const answerMark = Buffer.from('"role":"assistant"');

/** Returns the number of model responses in a request. */
function answersIn(body: Buffer): number {
  let found = 0;
  for (let at = body.indexOf(answerMark); at >= 0; at = body.indexOf(answerMark, at + answerMark.length)) {
    found += 1;
  }
  return found;
}

function count(
  tallies: Map<string, SessionStats>,
  job: string,
  { turn, bytes, at }: { turn: number; bytes: number; at: number },
): void {
  const tally = tallies.get(job) ?? { bytesByTurn: [], requests: 0, firstAt: at };
  tally.requests += 1;
  tally.bytesByTurn[turn] = (tally.bytesByTurn[turn] ?? 0) + bytes;
  tallies.set(job, tally);
}

function receivedOf(tally: SessionStats | undefined): Received {
  const bytesByTurn = Array.from(tally?.bytesByTurn ?? [], (bytes) => bytes ?? 0);
  return {
    requests: tally?.requests ?? 0,
    bytes: bytesByTurn.reduce((sum, bytes) => sum + bytes, 0),
    bytesByTurn,
    firstAt: tally?.firstAt,
  };
}

function stream(response: http.ServerResponse, answer: Buffer | undefined): void {
  if (answer === undefined) {
    return tell(response, 400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'The script does not have this turn.' },
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_bench' });
  // Written separately, so that the response is chunked like that of the service.
  response.write(answer);
  response.end();
}

function tell(response: http.ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
