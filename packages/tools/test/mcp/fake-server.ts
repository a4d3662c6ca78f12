// An MCP server that misbehaves. Its first argument lists the ways in which it does.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Json = Record<string, unknown>;

const [, , ways = '', log = '/dev/null'] = process.argv;
const does = (way: string) => ways.split(',').includes(way);
const object = { type: 'object', properties: {} };

const tools: Json[] = [
  'echo',
  'die',
  'big',
  'huge',
  'slow',
  'grow',
  'env',
  'child',
  'progress',
  'parts',
  'data',
  'fail',
  'refuse',
  'boast',
].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: object,
  annotations: { readOnlyHint: name === 'boast', idempotentHint: name === 'echo' },
}));

const odd: Json[] = [
  { name: 'fine.one', description: `\u001b]0;title\u0007${'long '.repeat(1000)}`, inputSchema: object },
  { name: 'fine one', inputSchema: object },
  { name: `long-${'x'.repeat(80)}`, inputSchema: object },
  { name: 'twice', inputSchema: object },
  { name: 'twice', inputSchema: object },
  { name: 'no-schema' },
  { name: 'a-list', inputSchema: { type: 'array' } },
  { name: 'not-schemas', inputSchema: { type: 'object', properties: { a: 7 } } },
  { name: 'bad-required', inputSchema: { type: 'object', properties: {}, required: 'a' } },
  { name: 'odd-property', inputSchema: { type: 'object', properties: { 'a b': {} } } },
  {
    name: 'combined',
    inputSchema: {
      ...object,
      properties: { kind: { type: 'string', pattern: '^(a+)+$' } },
      $defs: { size: { properties: { size: { type: 'integer', multipleOf: 2 } }, required: ['size'] } },
      allOf: [{ $ref: '#/$defs/size' }, { properties: { tags: { uniqueItems: true } } }],
      anyOf: [{ required: ['kind'] }, { properties: { name: { type: 'string' } }, required: ['name'] }],
      unevaluatedProperties: false,
    },
  },
  { name: 'looks-back', inputSchema: { ...object, properties: { a: { pattern: '(a+)\\1' } } } },
  { name: 'goes-round', inputSchema: { ...object, allOf: [{ $ref: '#' }] } },
  { name: 'no-type', inputSchema: { ...object, properties: { a: { type: 'strin' } } } },
  { name: 'no-pattern', inputSchema: { ...object, properties: { a: { pattern: '(' } } } },
  { name: 'nowhere', inputSchema: { ...object, allOf: [{ $ref: '#/$defs/none' }] } },
  { name: 'dynamic', inputSchema: { ...object, properties: { a: { $dynamicRef: 'http://127.0.0.1/x' } } } },
  { name: 'elsewhere', inputSchema: { ...object, properties: { a: { $ref: 'http://127.0.0.1/x' } } } },
  { name: 'wide', inputSchema: { ...object, description: 'x'.repeat(40_000) } },
  { name: 'deep', inputSchema: { ...object, properties: { a: deep(40) } } },
  { name: 'task', inputSchema: object, execution: { taskSupport: 'required' } },
  { inputSchema: object },
  ...Array.from({ length: 120 }, (_, index) => ({ name: `many${index}`, inputSchema: object })),
];

function deep(levels: number): Json {
  return levels === 0 ? {} : { type: 'object', properties: { a: deep(levels - 1) } };
}

/** Returns one page of a list: each page has its own tool, and there is always a next page. */
function page(at: number): Json {
  const next = does('circle') ? 1 : at + 1;
  return { tools: [{ name: `page${at}`, inputSchema: object }], nextCursor: String(next) };
}

function send(message: Json): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function note(text: string): void {
  appendFileSync(log, `${text}\n`);
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

const calls: Record<string, (id: unknown, params: Json) => unknown> = {
  echo: (_, { arguments: args }) => text(JSON.stringify(args)),
  die: () => {
    process.stderr.write('cannot go on: token=abcdefgh12345678 and sk-live-0123456789abcdef\u001b[2J\n');
    process.exit(7);
  },
  big: () => text('b'.repeat(10_000_000)),
  huge: () => text('h'.repeat(20_000_000)),
  slow: () => undefined,
  grow: () => {
    tools.push({ name: 'new', description: 'Is new.', inputSchema: object });
    send({ method: 'notifications/tools/list_changed' });
    return text('grown');
  },
  env: () => text(JSON.stringify(process.env)),
  child: () => text(String(spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).pid)),
  progress: (_, { _meta: meta }) => {
    const { progressToken } = meta as { progressToken: unknown };
    for (let progress = 1; progress <= 500; progress += 1)
      send({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 500, message: `step\u001b ${'p'.repeat(1000)}` },
      });
    return text('done');
  },
  parts: () => ({
    content: [
      { type: 'text', text: 'First.' },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zy8+' },
      { type: 'image', mimeType: 'image/png', data: '!!!' },
      { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' },
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'Inside.' } },
      { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' } },
      { type: 'resource_link', uri: 'file:///b', name: 'b', description: 'another' },
      { type: 'hologram' },
      'no part',
    ],
  }),
  data: () => ({ content: [], structuredContent: { a: 1 } }),
  fail: () => ({ ...text('It went wrong.'), isError: true }),
  boast: () => text('said to be harmless'),
};

function answer(message: Json): void {
  const { id, method } = message;
  const params = (message['params'] ?? {}) as Json;
  if (method === 'notifications/cancelled') note('cancelled');
  if (id === undefined) return;
  if (method === 'initialize') {
    if (does('hang')) return;
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: 'fake', version: '1' };
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities, serverInfo } });
  }
  if (method === 'tools/list') {
    if (does('endless') || does('circle')) return send({ id, result: page(Number(params['cursor'] ?? 0)) });
    if (does('thousands')) return send({ id, result: { ...page(0), tools: Array(600).fill(tools[0]) } });
    if (does('large-pages')) {
      note('listed');
      const large = { name: 'large', description: 'x'.repeat(7_000_000), inputSchema: object };
      return send({ id, result: { ...page(Number(params['cursor'] ?? 0)), tools: [large] } });
    }
    return send({ id, result: { tools: does('odd') ? odd : tools } });
  }
  const name = String(params['name']);
  note(`called ${name}`);
  const call = calls[name];
  if (call === undefined) return send({ id, error: { code: -32602, message: `no ${name} here` } });
  const result = call(id, params);
  if (result !== undefined) send({ id, result });
}

note(`started ${process.pid}`);
if (does('garbage')) process.stdout.write('Welcome to the fake server!\n{"half": \n[]\n\n7\n');
if (does('early')) {
  process.stderr.write('there is no configuration\n');
  process.exit(3);
}
if (does('stubborn'))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => answer(JSON.parse(line) as Json));
// Ends after a minute in any case, because a killed test cannot stop it.
if (does('stubborn')) setTimeout(() => process.exit(), 60_000);
