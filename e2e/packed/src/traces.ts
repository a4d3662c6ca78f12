import type { Row } from './board.ts';
import { Room } from './room.ts';
import type { Tarball } from './tarball.ts';

/** OpenTelemetry SDKs that cannot share a version of the API: the first needs a version below 1.10, the second 1.10. */
const pairs = [
  {
    api: '1.9',
    sdk: '@opentelemetry/sdk-trace-base@2.12.1',
    provider: 'BasicTracerProvider',
    options: 'exporter',
  },
  { api: '1.10', sdk: '@opentelemetry/sdk-trace@3.1.1', provider: 'TracerProvider', options: '{ exporter }' },
] as const;

const application = ({ sdk, provider, options }: (typeof pairs)[number]) => `
import { memoryStore } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { startServer, TokenStore } from '@cobbler/server';
import { trace } from '@opentelemetry/api';
import { ${provider}, InMemorySpanExporter, SimpleSpanProcessor } from '${sdk.replace(/@[\d.]+$/, '')}';
const exporter = new InMemorySpanExporter();
const provider = new ${provider}({ spanProcessors: [new SimpleSpanProcessor(${options})] });
trace.setGlobalTracerProvider(provider);
const tokens = new TokenStore();
const headers = { authorization: 'Bearer ' + tokens.own(), 'content-type': 'application/json' };
const settings = () => ({ agent: scriptedAgent(['Hello.']), tools: [] });
const server = await startServer({ store: memoryStore(), tokens, settings });
const post = (path, body) => fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
await post('/v1/sessions', { id: 's' });
await post('/v1/sessions/s/prompt', { content: 'Say hello.' });
await server.close();
await provider.forceFlush();
console.log(exporter.getFinishedSpans().map(({ name }) => name).join(', '));
`;

/**
 * Returns the rows for the spans of a run in an application with its own SDK; npm has chosen the version of
 * the API.
 */
export function traceRows(
  tarballs: readonly Tarball[],
  { npm, npmFlags, bin }: { npm: string; npmFlags: readonly string[]; bin: string },
): Row[] {
  const own = tarballs.filter(({ manifest }) => /^@cobbler\/(agent|server)$/.test(manifest.name));
  return pairs.map((pair) => ({
    claim: `${pair.sdk} gets spans`,
    async check() {
      const room = new Room(npm);
      try {
        room.write('package.json', '{"private":true,"type":"module"}\n');
        room.write('app.mjs', application(pair));
        const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
        const wanted = [...own.map(({ file }) => file), pair.sdk, `@opentelemetry/api@${pair.api}`];
        await room.must('npm', ['install', ...quiet, ...npmFlags, ...wanted], { bin, network: true });
        const { stdout } = await room.must('node', ['app.mjs'], { bin });
        if (!/chat .*, invoke_agent cobbler/.test(stdout)) throw new Error(`Its spans are: ${stdout}`);
      } finally {
        room.remove();
      }
      return `API ${pair.api}`;
    },
  }));
}
