import type { Agent, SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { BudgetClient, memoryBudgets } from '@cobbler/agent/budgets';
import { summarize } from '@cobbler/agent/context';
import { scriptedAgent } from '@cobbler/agent/testing';
import type { CobblerServer } from '@cobbler/server';
import { startServer, TokenStore } from '@cobbler/server';
import { workspaceTools } from '@cobbler/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RemoteHost } from '../../src/chat/remote-host.ts';
import { serverAccess } from '../../src/commands/chat.ts';
import { Permission } from '../../src/permissions/permission.ts';
import { ownPort } from '../support/own-port.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { chatStage } from './chat-stage.ts';

/** Starts a server whose gate asks about tool calls. */
async function serverOf(agent: Agent, folder: string, store: SessionStore, tokens: TokenStore, port = 0) {
  const permission = new Permission('ask', [], true);
  const server = await startServer({
    store,
    tokens,
    port,
    settings: () => ({
      agent,
      tools: workspaceTools({ root: folder, sandbox: 'off' }),
      gate: permission.gate,
      context: { compact: summarize() },
    }),
  });
  onTestFinished(() => server.close());
  return server;
}

async function remote(server: CobblerServer, token: string, folder: string, sessionId?: string) {
  const stage = await chatStage({
    agent: scriptedAgent([]),
    host: (io) => new RemoteHost({ io, url: server.url, token, folder }),
    ...(sessionId !== undefined && { sessionId }),
  });
  // A chat that stays open would try to reconnect to a port that another test may use.
  onTestFinished(async () => {
    stage.io.interrupt();
    await stage.left;
  });
  return stage;
}

const writes = {
  text: 'I will write.',
  calls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'one\n' } }],
};

describe.each([
  ['ends as waiting', false],
  ['waits in memory', true],
])('a chat without the scope admin, when a run that %s asks to raise a budget', (_name, attended) => {
  /** A chat of a guest that shows the question. */
  async function asked() {
    const budgets = memoryBudgets();
    await budgets.define({ name: 'guests', limits: { requests: 1 } });
    const agent = scriptedAgent([{ calls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] }, 'Done.']);
    const [folder, store, tokens] = [temporaryFolder(), memoryStore(), new TokenStore()];
    const server = await startServer({
      store,
      tokens,
      budgets: { store: budgets, client: new BudgetClient({ store: budgets }) },
      settings: () => ({
        agent,
        tools: workspaceTools({ root: folder, sandbox: 'off' }),
        onReached: 'ask',
        attended,
      }),
    });
    onTestFinished(() => server.close());
    const { token } = tokens.add({ name: 'g', scopes: ['prompt', 'read', 'approve'], budget: 'guests' });
    const stage = await remote(server, token, folder);
    stage.type('go', '\r');
    await stage.until('y continue with 1 request more');
    stage.ponder();
    const status = async () => {
      const [id = ''] = await store.sessions();
      return (await store.info(id))?.status;
    };
    return { stage, status };
  }

  test('says who may answer, and asks again', async () => {
    const { stage, status } = await asked();
    stage.type('y');
    await stage.until(
      /Only\s+a\s+token\s+with\s+the\s+"admin"\s+scope\s+can\s+raise\s+the\s+limit\s+of\s+budget\s+"guests"\.\s+Any\s+token\s+with\s+the\s+"approve"\s+scope\s+can\s+stop\s+the\s+run\.[\s\S]*n stop/,
    );
    expect(stage.text()).not.toContain('set-key');
    stage.ponder();
    stage.type('n');
    await stage.until('Completed work is kept.');
    expect(await status()).toBe('limit');
  });

  test('can send the next message', async () => {
    const { stage, status } = await asked();
    stage.type('y');
    await stage.until(/Only a token[\s\S]*n stop/);
    stage.type('/help', '\r');
    await stage.until('/sessions');
    expect(await status()).toMatch(/waiting|running/);
  });
});

describe('a chat with a server', () => {
  test('works like a local chat for prompt, approval with diff and response, and returns the stored events', async () => {
    const [folder, store, tokens] = [temporaryFolder(), memoryStore(), new TokenStore()];
    const server = await serverOf(scriptedAgent([writes, 'Written.']), folder, store, tokens);
    const stage = await remote(server, tokens.own(), folder);
    stage.type('write it', '\r');
    await stage.until('deny with a reason');
    expect(stage.text()).toMatch(/\? write_file {3}a\.txt .*\n {6}1 \+ one/);
    expect(stage.text()).not.toContain('always');
    stage.ponder();
    stage.type('y');
    await stage.until(/Written\.\n\n✓/);
    const [id = ''] = await store.sessions();
    const events = await store.read(id);
    expect(await stage.host.past(id)).toEqual(events);
    expect(stage.text().match(/› write it/g)).toHaveLength(1);
    expect(stage.text().match(/✓ write_file/g)).toHaveLength(1);
  });

  test('shortens the conversation on the server', async () => {
    const [folder, tokens] = [temporaryFolder(), new TokenStore()];
    const agent = scriptedAgent(['One.', 'Two.', 'Notes.']);
    const stage = await remote(await serverOf(agent, folder, memoryStore(), tokens), tokens.own(), folder);
    stage.type('first', '\r');
    await stage.until(/One\.\n\n✓/);
    stage.type('second', '\r');
    await stage.until(/Two\.\n\n✓/);
    stage.type('/compact the names', '\r');
    await stage.until('2 older messages summarized');
    expect(agent.requests[2]?.system).toContain('keep: the names');
  });

  test.each([
    ['a call', { gate: new Permission('ask', [], true).gate }],
    ['a reached limit', { limits: { tokens: 9_500 }, onReached: 'ask' as const }],
  ])(
    'answers the question about %s in a run that waits in memory for another client',
    async (_name, asks) => {
      const [folder, store, tokens] = [temporaryFolder(), memoryStore(), new TokenStore()];
      const usage = { inputTokens: 9_000, outputTokens: 100 };
      const agent = scriptedAgent([{ ...writes, usage }, 'Written.', 'Again.']);
      const tools = workspaceTools({ root: folder, sandbox: 'off' });
      const settings = () => ({ agent, tools, attended: true, ...asks });
      const server = await startServer({ store, tokens, settings });
      onTestFinished(() => server.close());
      const first = await remote(server, tokens.own(), folder);
      first.type('write it', '\r');
      await first.until(/y (allow|continue)/);
      const [id = ''] = await store.sessions();
      const second = await remote(server, tokens.own(), folder, id);
      await second.until(/y (allow|continue)/);
      second.ponder();
      second.type('y');
      for (const stage of [first, second]) await stage.until(/Written\.\n\n✓/);
      second.type('once more', '\r');
      for (const stage of [first, second]) await stage.until(/› once more\n\nAgain\.\n\n✓/);
      expect((await store.info(id))?.status).toBe('complete');
    },
  );

  test('continues after the server restarts, and shows the reconnection', async () => {
    const [folder, store, tokens] = [temporaryFolder(), memoryStore(), new TokenStore()];
    const agent = scriptedAgent(['One.', 'Two.']);
    const port = await ownPort();
    const first = await serverOf(agent, folder, store, tokens, port);
    const stage = await remote(first, tokens.own(), folder);
    stage.type('first', '\r');
    await stage.until(/One\.\n\n✓/);
    await first.close();
    await stage.until('reconnecting…');
    await serverOf(agent, folder, store, tokens, port);
    await stage.until('reconnected');
    stage.type('second', '\r');
    await stage.until(/Two\.\n\n✓/);
    expect(stage.text().match(/One\./g)).toHaveLength(1);
  });

  test('says that the server controls permissions, model and tools', async () => {
    const [folder, store, tokens] = [temporaryFolder(), memoryStore(), new TokenStore()];
    const server = await serverOf(scriptedAgent([]), folder, store, tokens);
    const stage = await remote(server, tokens.own(), folder);
    for (const command of ['/permissions', '/model', '/tools']) stage.type(command, '\r');
    await stage.until(/The server decides which calls[\s\S]*chooses the model[\s\S]*chooses the tools/);
  });

  test('says where to find the token after the server rejects one', async () => {
    const [folder, store, tokens] = [temporaryFolder(), memoryStore(), new TokenStore()];
    const server = await serverOf(scriptedAgent([]), folder, store, tokens);
    const stage = await remote(server, 'cbk_wrong', folder);
    stage.type('/sessions', '\r');
    await stage.until(/rejected the\s+token\.\s+The\s+owner\s+token\s+follows\s+#token=/);
  });
});

test('reads the token from the address that the server prints', () => {
  expect(serverAccess('http://127.0.0.1:4370/#token=cbk_x', undefined, {})).toEqual({
    url: 'http://127.0.0.1:4370',
    token: 'cbk_x',
  });
  expect(() => serverAccess('http://127.0.0.1:4370', undefined, {})).toThrow('requires a token');
  expect(() => serverAccess('localhost:4370', 't', {})).toThrow('is not a server address');
});
