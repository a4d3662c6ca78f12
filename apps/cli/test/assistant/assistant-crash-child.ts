// The assistant of this machine against a Telegram of the parent's, with a scripted model and a tool that must not run
// twice. It kills itself at the given moment, counted from 1: around each write of its databases, each call of
// Telegram, each request to the model and what the tool does. Ended in order, it says how many moments there were.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool, systemRuntime } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { lexicalEmbedder } from '@cobbler/assistant';
import { poll, readUpdate, telegramApi, telegramChannel } from '@cobbler/assistant/telegram';
import { assistantHome } from '../../src/assistant/assistant-home.ts';
import { openAssistant, openChats } from '../../src/assistant/open-assistant.ts';

const [folder = '', killAt = '0', token = '', apiRoot = '', person = ''] = process.argv.slice(2);
let moments = 0;

function at(): void {
  moments += 1;
  if (moments === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}

const runtime = {
  ...systemRuntime,
  fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
    // Fetching updates changes nothing, and comes as often as it comes.
    const isPoll = String(input).endsWith('/getUpdates');
    if (!isPoll) at();
    const response = await systemRuntime.fetch(input, init);
    if (!isPoll) at();
    return response;
  },
};

const note = defineTool({
  name: 'note',
  description: 'Notes something.',
  parameters: { type: 'object' },
  effect: 'once',
  execute() {
    at();
    appendFileSync(join(folder, 'effects.txt'), 'noted\n');
    at();
    return 'noted';
  },
});

/** By what it is asked, not by how often: another process goes on. */
const agent = scriptedAgent(
  [
    ({ messages }) => {
      at();
      const isCalled = messages.some(({ content }) => content.some(({ type }) => type === 'tool_call'));
      return isCalled ? 'Noted.' : { calls: [{ name: 'note', arguments: {} }] };
    },
  ],
  { repeat: true },
);

const home = assistantHome({ COBBLER_HOME: folder });
const api = telegramApi({ token, apiRoot, runtime });
const { assistant, close } = openAssistant(home, openChats(home, at), {
  agent,
  channel: telegramChannel({ token, api }),
  embedder: lexicalEmbedder(),
  tools: [note],
  timeZone: 'UTC',
  keepDays: 30,
  approvalMs: 5000,
  report: ({ message }, where) => process.stderr.write(`${where}: ${message}\n`),
  onWrite: at,
});
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.stdout.write('ready\n');
await poll({
  api,
  signal: stop.signal,
  async onUpdate(update) {
    await assistant.receive(readUpdate(update, { allowed: new Set([person]) }));
  },
});
await close();
process.stdout.write(`${moments}\n`);
