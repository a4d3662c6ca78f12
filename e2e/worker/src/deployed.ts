import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const app = fileURLToPath(new URL('../../../apps/worker', import.meta.url));
const program = fileURLToPath(new URL('../node_modules/wrangler/bin/wrangler.js', import.meta.url));

/** Runs wrangler in the app's directory, without prompts. */
export async function wrangler(...args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    CI: '1',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_LOG_PATH: join(tmpdir(), 'cobbler-wrangler-logs'),
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_BUILD_CONDITIONS: '@cobbler/source,workerd,worker,browser',
  };
  const { stdout, stderr } = await run(process.execPath, [program, ...args], { cwd: app, env });
  return `${stdout}${stderr}`;
}

/** Returns the script that `wrangler deploy` would upload, and the output of the command. */
export async function deployed(
  environment: string,
): Promise<{ readonly script: string; readonly said: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'cobbler-deployed-'));
  try {
    const said = await wrangler('deploy', '--dry-run', '--outdir', folder, '--env', environment);
    return { script: await readFile(join(folder, 'index.js'), 'utf8'), said };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
