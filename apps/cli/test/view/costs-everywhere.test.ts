import { join } from 'node:path';
import type { Agent, Event, SessionStore, Tool } from '@cobbler/agent';
import { AgentError, Executor } from '@cobbler/agent';
import { emptyItems, foldItems } from '@cobbler/agent/events';
import { sqliteStore } from '@cobbler/agent/node';
import { readCosts, totalCosts } from '@cobbler/agent/store';
import { scriptedAgent } from '@cobbler/agent/testing';
import type { Backend, BackendResult } from '@cobbler/delegate';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import type { CobblerServer } from '@cobbler/server';
import { startServer, TokenStore } from '@cobbler/server';
import { expect, onTestFinished, test } from 'vitest';
import { costs } from '../../src/commands/costs.ts';
import { Ledger } from '../../src/view/ledger.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const usage = { inputTokens: 1000, outputTokens: 200 };
const pricing = () => ({ input: 5, output: 25 });

const says = { text: 'Done.', usage };
const asks = (name: string, args: Record<string, string>) => ({ calls: [{ name, arguments: args }], usage });

function fails(): never {
  throw new AgentError({ kind: 'rate_limit', message: 'Too busy.', retryable: true });
}

/** A program whose first attempt fails. */
const program: Backend = {
  name: 'program',
  capabilities: { tools: false, gate: false, steer: false, fork: false, deltas: false },
  tellsCost: true,
  problem: () => undefined,
  run: () => Promise.reject(new Error('The tool only starts tasks.')),
  start(_request, context) {
    const failed = new AgentError({ kind: 'agent', message: 'Too busy.' }).toJSON();
    context?.onEvent?.({ type: 'withdrawn', attempt: 1, error: failed, delayMs: 0, wasted: usage, usd: 0.3 });
    const result: BackendResult = {
      ...{ status: 'completed', output: 'Done.', exitCode: 0, usage, usd: 0.5, totals: {}, turns: 2 },
      ...{ toolCalls: 0, denials: [], contextLost: false, attempts: 2, wasted: usage, durationMs: 1 },
    };
    return { result: Promise.resolve(result), stop: () => {}, decide: () => {} } as never;
  },
};

function toolsIn(workspace: string): Tool[] {
  const inner = new Executor({ agent: scriptedAgent([says], { repeat: true }), pricing });
  const third = inner.asTool({ name: 'third', description: 'Works.' });
  const second = new Executor({
    agent: scriptedAgent([asks('third', { prompt: 'Go.' }), says], { repeat: true }),
    tools: [third],
    pricing,
  });
  return [
    second.asTool({ name: 'second', description: 'Works.' }),
    createAgentTool({ workspace, backends: [program], sessionsFile: null }),
  ];
}

/** Responds like the script; to the first `wait`, only when it is cancelled, with what it has used by then. */
function agentOf(scripted: Agent): Agent {
  let waits = true;
  return {
    ...scripted,
    run: (request, context) => {
      const isWait = waits && JSON.stringify(request.messages.at(-1)).includes('wait');
      if (!isWait) return scripted.run(request, context);
      waits = false;
      return new Promise((_resolve, reject) => {
        const stop = () =>
          reject(new AgentError({ kind: 'aborted', message: 'Cancelled.', wasted: usage, attempts: 1 }));
        context?.signal?.addEventListener('abort', stop);
      });
    },
  };
}

interface Setup {
  readonly home: string;
  readonly store: SessionStore;
  readonly server: CobblerServer;
  readonly ask: (method: string, path: string, body?: object) => Promise<string>;
  /** Starts work in a session and returns when nothing runs there. */
  readonly work: (session: string, action: string, body?: object) => Promise<void>;
}

async function setup(): Promise<Setup> {
  const home = temporaryFolder();
  const store = sqliteStore(join(home, 'sessions.db'));
  const tokens = new TokenStore();
  const agent = agentOf(
    scriptedAgent([
      ...[
        asks('second', { prompt: 'Go.' }),
        asks('agent', { action: 'create', backend: 'program', prompt: 'Go.' }),
      ],
      ...[says, fails, says, says, says],
    ]),
  );
  const settings = () => ({ agent, tools: toolsIn(home), pricing });
  const server = await startServer({ settings, store, tokens, log: () => {} });
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  const authorization = `Bearer ${tokens.own()}`;
  const ask: Setup['ask'] = async (method, path, body) => {
    const json = body && {
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    return await (await fetch(server.url + path, { method, headers: { authorization }, ...json })).text();
  };
  const idle = async (session: string) => {
    while (typeof JSON.parse(await ask('GET', `/v1/sessions/${session}`)).runId === 'string')
      await new Promise((resolve) => setImmediate(resolve));
  };
  const work: Setup['work'] = async (session, action, body) => {
    await ask('POST', `/v1/sessions/${session}/${action}`, body);
    if (body === undefined || !JSON.stringify(body).includes('wait')) await idle(session);
  };
  return { home, store, server, ask, work };
}

async function ledgerOf(store: SessionStore, session: string): Promise<Ledger> {
  const ledger = new Ledger();
  for (const event of await store.read(session)) ledger.handle(event);
  return ledger;
}

/** The cost of a session as each face shows it. */
async function faces({ store, ask }: Setup, session: string): Promise<Record<string, number | undefined>> {
  const events = await store.read(session);
  const usageOf = JSON.parse(await ask('GET', `/v1/sessions/${session}/usage`));
  const page: {
    totalsOf(paid: readonly Event[]): { usd: number };
  } = await import(new URL('../../../web/src/app/session/turns.ts', import.meta.url).href);
  const view = emptyItems();
  for (const event of events) foldItems(view, event);
  return {
    list: (await store.list()).sessions.find(({ id }) => id === session)?.usd,
    chat: (await ledgerOf(store, session)).usd,
    usage: usageOf.usd,
    page: page.totalsOf(view.paid).usd,
    metrics: metricsOf(events),
  };
}

/** The sum of the metrics of the runs in a log. A resumed run includes what it continues. */
function metricsOf(events: readonly Event[]): number {
  const own = events.filter((event) => event.inherited !== true);
  const ends = own.filter((event, index) => {
    const next = own[index + 1];
    return event.type === 'finished' && next?.type !== 'resumed';
  });
  return ends.reduce(
    (sum, event) => sum + (event.type === 'finished' ? (event.metrics.usd ?? Number.NaN) : 0),
    0,
  );
}

test('every face shows the same cost after retries, delegation, cancel, resume, fork and undo [P14]', {
  timeout: 20_000,
}, async () => {
  const all = await setup();
  const { work, ask, store, home } = all;
  await ask('POST', '/v1/sessions', { id: 'one' });
  await work('one', 'prompt', { content: 'Start.' });
  await work('one', 'prompt', { content: 'Retry.' });
  await work('one', 'prompt', { content: 'wait' });
  await work('one', 'cancel');
  await work('one', 'resume');
  const fork = JSON.parse(await ask('POST', '/v1/sessions/one/fork')).id as string;
  await work(fork, 'prompt', { content: 'Again.' });
  const types = (await store.read('one')).map(({ type }) => type);
  expect(types.filter((type) => type === 'spent')).toHaveLength(5);
  expect(types).toEqual(expect.arrayContaining(['ask_failed', 'resumed']));

  let total = 0;
  const chat = new Ledger();
  for (const session of ['one', fork]) {
    const { list = Number.NaN, ...rest } = await faces(all, session);
    for (const [face, usd] of Object.entries(rest))
      expect(usd, `${face} of ${session}`).toBeCloseTo(list, 12);
    total += list;
    // The chat continues a copy after /undo, and keeps the costs of the original.
    chat.carry(await ledgerOf(store, session));
  }
  const io = fakeIo({ env: { COBBLER_HOME: home, NO_COLOR: '1' }, cwd: home });
  await costs({ json: true }, io);
  const meters = await ask('GET', '/metrics');
  const totals = {
    chat: chat.usd,
    store: totalCosts(await readCosts(store, { by: 'kind' })).usd,
    command: JSON.parse(io.stdout.text()).total.usd,
    server: JSON.parse(await ask('GET', '/v1/costs')).total.usd,
    prometheus: Number(/^cobbler_usd_total (\S+)$/m.exec(meters)?.[1]),
  };
  for (const [face, usd] of Object.entries(totals)) expect(usd, face).toBeCloseTo(total, 12);
});
