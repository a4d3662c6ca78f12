// An application with an OpenTelemetry SDK: `node traced.ts 1.9` registers the SDK through that
// version of the API, runs one prompt and prints the names of the spans.
import { memoryStore } from '@cobbler/agent';
import { harnessFixture } from '@cobbler/conformance';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { startServer, TokenStore } from '../../src/index.ts';

const isStable = process.argv[2] === '1.9';
const { trace } = await (isStable ? import('opentelemetry-api-1.9') : import('opentelemetry-api-1.10'));
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
if (!trace.setGlobalTracerProvider(provider)) throw new Error('The API takes no SDK.');

const tokens = new TokenStore();
const headers = { authorization: `Bearer ${tokens.own()}`, 'content-type': 'application/json' };
const server = await startServer({ store: memoryStore(), tokens, settings: () => harnessFixture() });
const post = (path: string, body: object) =>
  fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
await post('/v1/sessions', { id: 's' });
await post('/v1/sessions/s/prompt', { content: 'use look' });
await server.close();
process.stdout.write(JSON.stringify(exporter.getFinishedSpans().map((span) => span.name)));
