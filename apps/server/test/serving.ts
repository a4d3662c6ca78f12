// A server as a process of its own, over the scene of the harness contract and a file of sessions:
// node --conditions=@cobbler/source serving.ts FILE PORT. Says where it is on standard output.
import { sqliteStore } from '@cobbler/agent/node';
import { harnessScene } from '@cobbler/agent/testing';
import { startServer, TokenBook } from '../src/index.ts';

const [, , file = '', port = '0'] = process.argv;
let token: string | undefined = process.env['TOKEN_FILE_TEXT'];
const tokens = new TokenBook({
  read: () => token,
  write: (text) => {
    token = text;
  },
});
const store = sqliteStore(file);
const server = await startServer({
  store,
  tokens,
  port: Number(port),
  settings: () => harnessScene(),
  limits: { drainMs: 1_000, heartbeatMs: 2_000 },
});
process.stdout.write(`${JSON.stringify({ url: server.url, token: tokens.own(), tokens: token })}\n`);
process.on('SIGTERM', () => {
  void server.close().then(async () => {
    await store.close();
    process.exit(0);
  });
});
