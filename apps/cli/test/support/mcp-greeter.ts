// A small MCP server: it greets, returns its working directory and records its starts in a file.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , log] = process.argv;
if (log !== undefined) appendFileSync(log, `${process.pid}\n`);

const inputSchema = { type: 'object', properties: { name: { type: 'string' } } };
const names = ['greet', 'where'];

function send(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function answer(method: unknown, params: Record<string, unknown>): Record<string, unknown> {
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    return { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'greeter', version: '1.0' } };
  }
  if (method === 'tools/list')
    return { tools: names.map((name) => ({ name, description: `Does ${name}.`, inputSchema })) };
  const args = params['arguments'] as { name?: string };
  if (args.name === 'more') {
    names.push('more');
    send({ method: 'notifications/tools/list_changed' });
  }
  const text = params['name'] === 'where' ? process.cwd() : `Good day, ${args.name}!`;
  return { content: [{ type: 'text', text }] };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id !== undefined) send({ id, result: answer(method, params) });
});
