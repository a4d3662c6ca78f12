// Runs the real programs against mock services, offline: npm run verify -- clis [-- WORDS of case names].
// A missing program is a failure, not a reason to skip.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sdkCases, wholeCases } from './agent-cases.ts';
import type { Case } from './cli-cases.ts';
import { cliCases, specialCases } from './cli-cases.ts';
import { mcpCases } from './mcp-cases.ts';
import type { Programs } from './rig.ts';
import { left, makeRig } from './rig.ts';

const limitMs = 90_000;

/** Time limit for the processes of a case to end after the case, in milliseconds. */
const goneMs = 5000;

/** The programs are installed by the packages for this platform. */
function findPrograms(): Programs {
  const require = createRequire(import.meta.url);
  const platform = `${process.platform}-${process.arch}`;
  const folder = (name: string) => dirname(require.resolve(`${name}/package.json`));
  const triple = { 'linux-x64': 'x86_64-unknown-linux-musl', 'linux-arm64': 'aarch64-unknown-linux-musl' }[
    platform
  ];
  const programs = {
    claude: join(folder(`@anthropic-ai/claude-agent-sdk-${platform}`), 'claude'),
    codex: join(folder(`@openai/codex-${platform}`), 'vendor', triple ?? platform, 'bin', 'codex'),
  };
  for (const path of Object.values(programs)) if (!existsSync(path)) throw new Error(`${path} is missing`);
  return programs;
}

/** The mock models, in a separate process. */
async function startService(log: string): Promise<{ url: string; stop: () => void }> {
  const flags = [
    '--conditions=@cobbler/source',
    '--no-warnings',
    join(import.meta.dirname, 'service.ts'),
    log,
  ];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (text: Buffer) => resolve(String(text).trim()));
    child.once('exit', (code) => reject(new Error(`the service exited with ${code}`)));
  });
  return { url, stop: () => child.kill() };
}

interface Outcome {
  readonly name: string;
  readonly problem?: string | undefined;
  readonly ms: number;
  readonly goneMs: number;
}

async function play(one: Case, programs: Programs, url: string, log: string): Promise<Outcome> {
  const rig = makeRig(programs, url, log, one.name);
  const began = performance.now();
  let problem: string | undefined;
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`did not end within ${limitMs} ms`)), limitMs).unref();
  });
  try {
    await Promise.race([one.run(rig), late]);
  } catch (thrown) {
    problem = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const over = performance.now();
  let rest = left(rig.marker);
  while (rest.length > 0 && performance.now() - over < goneMs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    rest = left(rig.marker);
  }
  if (rest.length > 0) problem ??= `still running: ${rest.join('; ')}`;
  for (const line of rest) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  rig.dispose();
  const times = { ms: over - began, goneMs: performance.now() - over };
  return { name: one.name, ...times, problem };
}

function versionOf(program: string): string {
  const env = { HOME: tmpdir(), CODEX_HOME: tmpdir(), PATH: '/usr/bin:/bin' };
  return execFileSync(program, ['--version'], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

async function main(words: readonly string[]): Promise<number> {
  const began = performance.now();
  const programs = findPrograms();
  const all = [...cliCases, ...specialCases, ...sdkCases, ...wholeCases, ...mcpCases];
  const wanted = all.filter(({ name }) => words.every((word) => name.includes(word)));
  const area = mkdtempSync(join(tmpdir(), 'cobbler-clis-log-'));
  const log = join(area, 'requests');
  writeFileSync(log, '');
  const service = await startService(log);
  const outcomes: Outcome[] = [];
  try {
    print(
      `claude ${versionOf(programs.claude)}; codex ${versionOf(programs.codex)}; node ${process.version}`,
    );
    for (const one of wanted) {
      const outcome = await play(one, programs, service.url, log);
      outcomes.push(outcome);
      const { name, problem, ms } = outcome;
      print(
        `${problem === undefined ? 'ok    ' : 'FAILED'} ${String(Math.round(ms)).padStart(6)} ms  ${name}`,
      );
      if (problem !== undefined) print(`       ${problem}`);
    }
  } finally {
    service.stop();
    rmSync(area, { recursive: true, force: true });
  }
  const failed = outcomes.filter(({ problem }) => problem !== undefined).length;
  const worst = Math.max(0, ...outcomes.map((outcome) => outcome.goneMs));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  print(
    `${outcomes.length - failed} passed, ${failed} failed, 0 skipped; ${seconds} s; longest time until all processes ended ${Math.round(worst)} ms`,
  );
  return failed === 0 && outcomes.length > 0 ? 0 : 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = await main(process.argv.slice(2)).catch((thrown: unknown) => {
  process.stderr.write(`clis: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  return 1;
});
