// One Cobbler process of the proof: it works on runs, starts them, and shows the events of any session to whoever
// watches, wherever they are written.
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Event } from '@cobbler/agent';
import { defineTool, Executor, sessionRoutine } from '@cobbler/agent';
import { restateRunner } from '@cobbler/runner-restate';
import { postgresStore } from '@cobbler/store-postgres';
import { z } from 'zod';
import { scriptedModel } from './scripted-model.ts';
import type { Ready, Settings } from './settings.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { name, effects } = settings;

const store = postgresStore({ url: settings.database, exclusion: 'runner' });

const takesSome = (least: number, most: number) => least + Math.floor(Math.random() * (most - least));

function executorOf(sessionId: string): Executor {
  const parameters = z.object({ place: z.number() });
  const book = defineTool({
    name: 'book',
    description: 'Books a place. Must not run twice.',
    parameters,
    effect: 'once',
    async execute({ place }) {
      // A line of its own, whole, whoever else writes; there before anything else can happen.
      appendFileSync(effects, `${sessionId} book ${place} ${name}\n`);
      await new Promise((resolve) => setTimeout(resolve, takesSome(20, 120)));
      return `booked ${place}`;
    },
  });
  const look = defineTool({
    name: 'look',
    description: 'Looks at a place.',
    parameters,
    effect: 'read',
    execute: ({ place }) => `place ${place} is there`,
  });
  const agent = scriptedModel(() => takesSome(80, 250));
  return new Executor({ agent, tools: [book, look], store, limits: { turns: 20 } });
}

const runner = restateRunner({
  routine: sessionRoutine({ store, executor: executorOf }),
  ingress: settings.ingress,
  admin: settings.admin,
  address: settings.address,
  port: 0,
  service: 'proof',
});

/** Those who wait for news of a session. */
const waiting = new Map<string, Set<() => void>>();
store.watch((sessionId) => {
  for (const look of waiting.get(sessionId) ?? []) look();
});

/** Sends the events after a place as lines, what there is first, and then what comes, until the run has ended. */
async function show(sessionId: string, after: number, response: ServerResponse): Promise<void> {
  let seq = after;
  let news = Promise.withResolvers<void>();
  const look = () => news.resolve();
  const looks = waiting.get(sessionId) ?? new Set();
  waiting.set(sessionId, looks.add(look));
  response.on('close', () => looks.delete(look));
  response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
  while (!response.destroyed) {
    const events: readonly Event[] = await store.read(sessionId, seq);
    for (const event of events)
      response.write(`${JSON.stringify({ seq: event.seq, id: event.id, type: event.type })}\n`);
    seq += events.length;
    if (events.at(-1)?.type === 'finished') return void response.end();
    if (events.length > 0) continue;
    await news.promise;
    news = Promise.withResolvers<void>();
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const sessionId = url.searchParams.get('session') ?? '';
  const runId = url.searchParams.get('run') ?? '';
  if (url.pathname === '/events')
    return await show(sessionId, Number(url.searchParams.get('after')), response);
  if (url.pathname === '/prompt') {
    const started = await runner.start({ sessionId, content: 'Book all places.' }, { runId, key: sessionId });
    return void response.end(JSON.stringify({ started }));
  }
  if (url.pathname === '/result')
    return void response.end(JSON.stringify({ result: await runner.result(runId) }));
  response.writeHead(404).end();
}

const api = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    process.stderr.write(`${name}: ${String(error)}\n`);
    response.destroy();
  });
});
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
const address = api.address();
const ready: Ready = {
  engine: await listening(),
  api: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
};
process.stdout.write(`${JSON.stringify(ready)}\n`);

/** The runner is known to the engine by the address of the balancer, which has to know this one first. */
async function listening(): Promise<string> {
  const url = await runner.listening();
  process.stdout.write(`${JSON.stringify({ engine: url })}\n`);
  await runner.ready();
  return url;
}
