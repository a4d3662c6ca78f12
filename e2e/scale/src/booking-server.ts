// An MCP server over stdio. Its tool `book` must not run twice: each run writes one line to a file before anything
// else. `look` changes nothing.
//
//   node booking-server.ts FILE NAME LEAST_MS MOST_MS
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file = '', name = '', minMs = '0', maxMs = '0'] = process.argv;

const place = { type: 'number' };
const tools = [
  {
    name: 'book',
    description: 'Books a place. Must not run twice.',
    inputSchema: { type: 'object', properties: { session: { type: 'string' }, place } },
  },
  { name: 'look', description: 'Looks at a place.', inputSchema: { type: 'object', properties: { place } } },
];

async function call(tool: unknown, given: Readonly<Record<string, unknown>>): Promise<string> {
  if (tool !== 'book') return `place ${given['place']} is there`;
  // One write per line, so that concurrent writers do not mix their lines.
  appendFileSync(file, `${given['session']} ${given['place']} ${name}\n`);
  const ms = Number(minMs) + Math.random() * (Number(maxMs) - Number(minMs));
  await new Promise((resolve) => setTimeout(resolve, ms));
  return `booked ${given['place']}`;
}

async function answer(method: unknown, params: Readonly<Record<string, unknown>>): Promise<unknown> {
  if (method === 'initialize') {
    const serverInfo = { name: 'bookings', version: '1.0' };
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') return { tools };
  const given = params['arguments'] as Readonly<Record<string, unknown>>;
  return { content: [{ type: 'text', text: await call(params['name'], given) }] };
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    void answer(method, params).then((result) =>
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`),
    );
  })
  .on('close', () => process.exit());
