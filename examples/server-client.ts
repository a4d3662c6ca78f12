// Shows a conversation on a server. A client prompts, watches, approves, disconnects, and reconnects after a restart.
// Run it with: npm run try -- examples/server-client.ts
import { defineTool, memoryStore } from '@cobbler/agent';
import { connectHarness } from '@cobbler/agent/remote';
import { scriptedAgent } from '@cobbler/agent/testing';
import { startServer, TokenStore } from '@cobbler/server';

// The server defines the model, tools and permissions of a session. No request can change them.
const bell = defineTool({
  name: 'ring',
  description: 'Rings the bell of the shop.',
  parameters: { type: 'object' },
  execute: () => 'It rang.',
});
const agent = scriptedAgent([
  { text: 'I will ring.', calls: [{ name: 'ring', arguments: {} }] },
  'They know that you are here.',
  ({ messages }) => `This is my answer to your prompt number ${messages.filter(isPrompt).length}.`,
]);
const isPrompt = ({ role, content }: { role: string; content: readonly { type: string }[] }) =>
  role === 'user' && content.some(({ type }) => type === 'text');

const store = memoryStore();
const tokens = new TokenStore();
const gate = () => ({ type: 'ask' }) as const;
const open = () =>
  startServer({ store, tokens, settings: () => ({ agent, tools: [bell], gate, attended: true }) });
let server = await open();
const token = tokens.own();

// The client needs only `fetch`, so the same code works in a browser. It is a harness like any other.
const client = connectHarness({ url: server.url, token, sessionId: 'visit' });
const run = client.prompt('Tell them that I am here.');
for await (const event of run) {
  if (event.type === 'approval_requested') {
    console.log('asked about', event.toolName);
    run.decide(event.approvalId, { decision: 'allow' });
  }
  if (event.type === 'tool_result' || event.type === 'finished') console.log(`${event.seq} ${event.type}`);
}
console.log((await run).text);
await client.close();

// The server restarts on another port with the same store. The conversation continues.
await server.close();
server = await open();
const later = connectHarness({ url: server.url, token, sessionId: 'visit' });
const again = await later.prompt('And now?');
console.log(again.text, `${again.messages.length} messages`);
await later.close();

// Without a valid token, the server rejects every request.
const unauthorized = connectHarness({ url: server.url, token: 'guessed', sessionId: 'visit' });
const refused = await unauthorized.prompt('What did they say?');
console.log(refused.status, refused.error?.kind);
await unauthorized.close();
await server.close();
