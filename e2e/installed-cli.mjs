// The command `cobbler` as a user gets it: built, packed, and installed by npm into a directory with
// an empty home.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { capture, Refusal, tell } from '../scripts/child.mjs';
import { cleanEnvironment } from '../scripts/setup.mjs';

/** The number of last output lines to show in an error; they contain the cause. */
const shownLines = 12;

/**
 * Installs the command. npm runs offline: the package has no dependencies.
 * @param {string} root the project
 * @param {string} folder where to install; must not exist yet
 * @returns {Promise<{ bin: string, tarball: string }>} the paths of the command and of the tarball
 */
export async function installCli(root, folder) {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const env = { ...cleanEnvironment(process.env), TURBO_TELEMETRY_DISABLED: '1' };
  return tell('building, packing and installing cobbler', async () => {
    await must('turbo', ['run', 'build', '--filter=@cobbler/cli', '--output-logs=errors-only'], root, env);
    await must('pnpm', ['pack', '--pack-destination', folder], join(root, 'apps', 'cli'), env);
    const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
    const flags = ['--global', '--offline', '--no-audit', '--no-fund', '--loglevel=error'];
    const prefix = join(folder, 'prefix');
    await must('npm', ['install', ...flags, '--prefix', prefix, tarball], home, { ...env, HOME: home });
    return { bin: join(prefix, 'bin', 'cobbler'), tarball };
  });
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
async function must(command, args, cwd, env) {
  const { code, output } = await capture(command, args, { cwd, env });
  if (code === 0) return;
  const end = output.trim().split('\n').slice(-shownLines).join('\n');
  throw new Refusal(`Cannot install cobbler: ${command} ${args[0]} ended with ${code}:\n${end}`);
}
