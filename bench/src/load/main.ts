// `npm run bench -- load --url URL --token TOKEN`: simulates users that prompt, cancel, approve and watch on a server
// for a limited time. Prints durations, and exits with 1 if a request failed or an event was lost or duplicated. With
// --self it starts its own server with a scripted model. On your own server, each prompt costs what its model costs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CobblerProcess } from '../server/cobbler-process.ts';
import { startModelService } from '../server/model-service.ts';
import type { Target } from './client.ts';
import type { LoadReport, LoadSize } from './load.ts';
import { load } from './load.ts';
import type { Sayings } from './talker.ts';

const options = {
  url: { type: 'string' },
  token: { type: 'string' },
  self: { type: 'boolean', default: false },
  sessions: { type: 'string', default: '20' },
  watchers: { type: 'string', default: '50' },
  seconds: { type: 'string', default: '30' },
  seed: { type: 'string', default: '1' },
  prompt: { type: 'string', default: 'Answer with one word.' },
  keep: { type: 'boolean', default: false },
} as const;

/** Prompts that the scripted model understands. */
const scripted: Sayings = {
  talk: 'say 40',
  cancel: 'hang',
  approve: `use write_file ${JSON.stringify({ path: 'load.txt', content: 'loaded' })}`,
};

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const size: LoadSize = {
    sessions: numberOf(values.sessions, '--sessions', 1),
    watchers: numberOf(values.watchers, '--watchers', 0),
    seconds: numberOf(values.seconds, '--seconds', 1),
    seed: numberOf(values.seed, '--seed', 0),
    keeps: values.keep,
  };
  const report = values.self
    ? await loadSelf(size)
    : await load(targetOf(values.url, values.token), { talk: values.prompt, cancel: values.prompt }, size);
  for (const line of report.lines) process.stdout.write(`${line}\n`);
  return report.isGood ? 0 : 1;
}

/** Runs the load on a temporary server. */
async function loadSelf(size: LoadSize): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-load-'));
  const model = await startModelService();
  const server = await CobblerProcess.start({ modelUrl: model.url, folder });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void server.stop('SIGKILL').finally(() => process.exit(130)));
  }
  try {
    // The server runs from its sources and loads them on demand, which must not be measured.
    await load(server, scripted, { ...size, sessions: 1, watchers: 1, seconds: 2 });
    return await load(server, scripted, size);
  } finally {
    await server.stop();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Parses the address, which can contain the token, as printed by `cobbler serve`. */
function targetOf(given: string | undefined, token: string | undefined): Target {
  const url = URL.parse(given ?? '');
  if (url === null)
    throw new Error('The server is missing. Use --url URL --token TOKEN, or --self for a temporary server.');
  const found = token ?? /#token=(.+)$/.exec(url.hash)?.[1] ?? process.env['COBBLER_SERVER_TOKEN'];
  if (found === undefined)
    throw new Error('The token is missing. Use --token TOKEN, with the scopes prompt and approve.');
  return { url: url.origin + url.pathname.replace(/\/$/, ''), token: found };
}

function numberOf(text: string, flag: string, least: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  throw new Error(`${flag} cannot be ${JSON.stringify(text)}. Use a whole number of at least ${least}.`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`load: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
