// Runs every command and every program of every document as its reader would, without a network. Mock services on this
// machine replace models and Telegram; the rest is real. `cobbler` is the packed command as installed by npm, except
// where a page says `npm start --`. Commands that cannot run here are listed with the reason.
//
//   npm run verify -- docs                         all pages
//   npm run verify -- docs docs/server.md       some pages
//   npm run verify -- docs --list               what would run, and how
//
// plans.ts defines how a command runs and the values of its placeholders. A command without a plan runs as written and
// must exit with 0.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serveLoopback } from '@cobbler/agent/testing';
import { installCli } from '../../installed-cli.mjs';
import { stepsOf } from './commands.ts';
import { followedPages } from './documents.ts';
import { openEngines } from './engines.ts';
import type { Outcome } from './page-run.ts';
import { runPage } from './page-run.ts';
import { makePlace } from './place.ts';
import { planFor } from './plan.ts';
import { plans } from './plans.ts';
import { lineOf, summaryOf } from './report.ts';
import type { PagePlace } from './shell.ts';
import { endAllShells, PageShell } from './shell.ts';
import { openStandIns, standInKeys } from './stand-ins.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
});
const pages = followedPages(root)
  .filter(({ path }) => positionals.length === 0 || positionals.some((word) => path.includes(word)))
  .map((page) => ({ path: page.path, commands: stepsOf(page) }))
  .filter(({ commands }) => commands.length > 0);

if (values.list) list();
else process.exitCode = await runAll();

function list(): void {
  for (const command of pages.flatMap(({ commands }) => commands)) {
    const { apart, way = 'run' } = planFor(command, plans) ?? {};
    const how = apart === undefined ? way : 'not run';
    process.stdout.write(
      `${how.padEnd(9)} ${command.page}:${command.line}  ${command.text.split('\n')[0]}\n`,
    );
  }
}

async function runAll(): Promise<number> {
  const area = mkdtempSync(join(tmpdir(), 'cobbler-docs-'));
  const { bin, tarball } = await installCli(root, join(area, 'installed'));
  const engines = await openEngines(
    root,
    pages.flatMap(({ commands }) => commands),
  );
  const standIns = await openStandIns();
  const port = await freePort();
  const place = makePlace(root, area, bin);
  const outcomes: Outcome[] = [];
  const known = new Set<string>();
  const env = {
    ...engines.env,
    DOCS_TARBALL: tarball,
    ANTHROPIC_BASE_URL: standIns.modelUrl,
    OPENAI_BASE_URL: `${standIns.modelUrl}/v1`,
    GOOGLE_GEMINI_BASE_URL: standIns.modelUrl,
    DOCS_MODEL: standIns.modelUrl,
    DOCS_TELEGRAM: standIns.telegramUrl,
    DOCS_KEY: standInKeys.anthropic,
    DOCS_BOT: standInKeys.telegram,
  };
  const keys = {
    ANTHROPIC_API_KEY: standInKeys.anthropic,
    OPENAI_API_KEY: standInKeys.openai,
    GEMINI_API_KEY: standInKeys.gemini,
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(name, () => {
      endAllShells();
      void engines.close().finally(() => {
        place.dispose();
        process.exit(130);
      });
    });
  try {
    await setUp(place.forPage('set-up'));
    for (const { path, commands } of pages) {
      process.stdout.write(`${path}\n`);
      const tell = (outcome: Outcome) => void process.stdout.write(`${lineOf(outcome)}\n`);
      const means = { plans, place: place.forPage(path), clone: place.clone, port, env, keys, known, tell };
      outcomes.push(...(await runPage(path, commands, means)));
    }
  } finally {
    await standIns.close();
    await engines.close();
    place.dispose();
  }
  process.stdout.write(`\n${summaryOf(outcomes)}\n`);
  const failed = outcomes.filter(({ verdict }) => verdict === 'failed');
  for (const outcome of failed) process.stdout.write(`\n${lineOf(outcome)}\n`);
  return failed.length > 0 ? 1 : 0;
}

/** Sets the clone up, as the first command of a reader does. */
async function setUp(place: PagePlace): Promise<void> {
  const began = performance.now();
  const { code, output } = await new PageShell(place, 'set-up').run('npm start -- --version');
  if (code !== 0) throw new Error(`the copy of the tree cannot be set up: ${output}`);
  process.stdout.write(`a clone is set up (${((performance.now() - began) / 1000).toFixed(1)} s)\n`);
}

async function freePort(): Promise<number> {
  const { url, close } = await serveLoopback(() => new Response());
  await close();
  return Number(new URL(url).port);
}
