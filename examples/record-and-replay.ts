// Shows how to record a run once and replay it without network access or tools, with the same events, byte for byte.
// Run it with: npm run try -- examples/record-and-replay.ts
import { defineTool, Executor } from '@cobbler/agent';
import type { Recording } from '@cobbler/agent/cassette';
import { player, recorder } from '@cobbler/agent/cassette';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { createClaude } from '@cobbler/provider-claude';
import { claudeTesting } from '@cobbler/provider-claude/testing';

// A scripted service on a local port replaces the real one.
const service = wireServer(claudeTesting, [
  replies(scriptResponse(['I will ask the till.', callBlock('toolu_1', 'takings', {})])),
  replies(scriptResponse(['We took 86 today.'])),
]);
const { url, close } = await serveLoopback(service.handler);

let asked = 0;
const takings = defineTool({
  name: 'takings',
  description: 'Says what the till has taken in.',
  effect: 'read',
  parameters: { type: 'object' },
  execute() {
    asked += 1;
    return 86;
  },
});

/** Runs the task, both to record it and to replay it. Every input passes through `tape`. */
async function ask(tape: Recording, question: string) {
  const { runtime, transport } = tape;
  const config = { apiKey: 'sk-ant-example', baseURL: url, model: 'claude-opus-5-5' };
  const agent = createClaude({ ...config, runtime, transport });
  const events: string[] = [];
  const executor = new Executor({ agent, runtime, tools: tape.tools([takings]) });
  const result = await executor.run(question, { onEvent: (event) => events.push(JSON.stringify(event)) });
  return { ...result, events };
}

const lines: string[] = [];
const recording = recorder({ write: (line) => lines.push(line) });
const first = await ask(recording, 'How was business?');
recording.check();
await close();
const cassette = lines.join('');
console.log('recorded:', first.text, `${service.exchanges.length} requests, ${asked} call`);
console.log('the key is in the cassette:', cassette.includes('sk-ant-example'));

// The service is stopped. The replay does not need it.
const replay = player(cassette);
const second = await ask(replay, 'How was business?');
replay.check();
console.log('replayed:', second.text, `${service.exchanges.length} requests, ${asked} call`);
console.log('the same events:', JSON.stringify(first.events) === JSON.stringify(second.events));

// A replay with another prompt fails and shows the difference.
const other = await ask(player(cassette), 'How was the weather?');
console.log(other.status, other.error?.code);
console.log(other.error?.message);
