// Shows a custom provider, made of data and a few pure functions, for a fictional service that sends lines of JSON.
// Run it with: npm run try -- examples/custom-provider.ts
import { Executor } from '@cobbler/agent';
import type { Turn, Wire } from '@cobbler/agent/provider';
import { createAgent } from '@cobbler/agent/provider';
import { serveLoopback } from '@cobbler/agent/testing';

// The Pigeon company accepts `{ loft, letters }` and sends one line for each pigeon that arrives. Its first response
// ends in the middle of a line, to show a retry.
let flights = 0;
const answers = [
  '{"says":"I wi',
  '{"says":"I will ask."}\n{"fetch":"weather","id":"p1","with":{"at":"noon"}}\n{"over":"fetch"}',
  '{"says":"Noon will be "}\n{"says":"sunny."}\n{"ate":[40,8]}\n{"over":"well"}',
];
const headers = { 'content-type': 'application/x-ndjson' };
const { url, close } = await serveLoopback(() => new Response(answers[flights++], { headers }));

// This is the whole provider. `createAgent` sends requests, retries, enforces deadlines, aborts, detects truncated
// responses and redacts keys.
const pigeon: Wire = {
  provider: 'pigeon',
  framing: 'ndjson',
  endpoint: { url, headers: { 'x-ring': 'a-secret' }, secrets: ['a-secret'] },
  envelope: ({ model }) => ({ body: { loft: model }, turns: 'letters' }),
  turn: ({ side, parts }) => [{ from: side, lines: parts.map(lineOf) }],
  event(payload, out) {
    const { says, fetch, id = '', with: needs, ate, over } = payload as Line;
    if (says !== undefined) out.text(0, says);
    if (fetch !== undefined) {
      out.call(id, id, fetch);
      out.input(id, JSON.stringify(needs));
      out.close(id);
    }
    if (ate !== undefined) out.usage({ inputTokens: ate[0], outputTokens: ate[1] });
    if (over !== undefined) out.end(over === 'fetch' ? 'tool_use' : 'complete', over);
  },
  fault: (_status, body) => ({ message: body }),
};
type Line = {
  says?: string;
  fetch?: string;
  id?: string;
  with?: unknown;
  ate?: [number, number];
  over?: string;
};

function lineOf(part: Turn['parts'][number]) {
  if (part.type === 'tool_call') return { fetch: part.toolName, id: part.id };
  if (part.type === 'tool_result') return { brought: part.callId, text: JSON.stringify(part.content) };
  return part.type === 'text' ? part.text : '';
}

const can = { files: [], reasoning: false, sampling: false } as const;
const capabilities = { ...can, cacheUsage: false, parallelCalls: true, output: 'none' } as const;
const agent = createAgent(pigeon, { model: 'carrier-2', capabilities, retry: { baseMs: 10 } });
const weather = {
  name: 'weather',
  description: 'Says what the weather will be.',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
  execute: ({ at }: { at?: unknown }) => `sunny at ${at}`,
};

const run = new Executor({ agent, tools: [weather] }).run('What will the weather be at noon?');
run.subscribe((event) => event.type === 'retry' && console.log('once more, after:', event.error.kind));
const { status, text, metrics } = await run;
console.log(status, text, `${flights} flights, ${metrics.totalInputTokens} tokens in`);
await close();
