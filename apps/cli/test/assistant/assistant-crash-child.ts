// The local assistant with the parent's fake Telegram, a scripted model and a tool that must not
// run twice. It kills itself at the given step, counted from 1. Steps are before and after each
// database write, Telegram call and tool effect, and at each model request. If the process is
// stopped with SIGTERM, it prints the number of steps.
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
    // Polling changes nothing and its number of calls varies, so it is not a step.
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

/** Decides by the conversation, not by a request count, because another process may continue it. */
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
