// Starts a server as a separate process, with the fixture of the harness contract and a session file:
// node --conditions=@cobbler/source serving.ts FILE PORT. Prints its address to standard output.
// PACE_MS is the delay of the model before each response. While FILE.full exists, the store rejects
// appends.
import { existsSync } from 'node:fs';
import type { Agent } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessFixture, refusingStore } from '@cobbler/conformance';
import { startServer, TokenStore } from '../../src/index.ts';
import { fullMark } from './full-mark.ts';

const [, , file = '', port = '0'] = process.argv;
let token: string | undefined = process.env['TOKEN_FILE_TEXT'];
const tokens = new TokenStore({
  read: () => token,
  write: (text) => {
    token = text;
  },
});
const paceMs = Number(process.env['PACE_MS'] ?? 0);
const store = refusingStore(sqliteStore(file), () => existsSync(fullMark(file)));
const server = await startServer({
  store,
  tokens,
  port: Number(port),
  settings: () => {
    const scene = harnessFixture();
    return { ...scene, agent: paced(scene.agent) };
  },
  limits: { drainMs: 1_000, heartbeatMs: 2_000 },
});
process.stdout.write(`${JSON.stringify({ url: server.url, token: tokens.own(), tokens: token })}\n`);
process.on('SIGTERM', () => {
  void server.close().then(async () => {
    await store.close();
    process.exit(0);
  });
});

function paced(agent: Agent): Agent {
  if (paceMs === 0) return agent;
  const run: Agent['run'] = async (request, context) => {
    await new Promise((resolve) => setTimeout(resolve, paceMs));
    return await agent.run(request, context);
  };
  return { ...agent, run };
}
