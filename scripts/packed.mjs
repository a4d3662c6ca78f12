// The packages as they would be published: packed, installed into an empty folder, run on Node 22, 24 and 26, by require,
// in workerd and through esbuild, and type-checked: npm run verify -- packed. Fetches what that takes (0.9 GB, once) into
// e2e/packed and fails, not skips, when it cannot.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, handOver, Refusal, tell } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';
import { installSuite, runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'e2e', 'packed');
const env = { ...cleanEnvironment(process.env), TURBO_TELEMETRY_DISABLED: '1' };

/** The folder of the npm that the machine has, which is run with each Node in turn. */
async function npmFolder() {
  const { code, output } = await capture('which', ['npm'], { cwd: root, env });
  if (code !== 0) throw new Refusal('There is no npm on the PATH.');
  return dirname(output.trim());
}

/** Where packages come from and are kept: the one thing of this machine that the empty home has to know. */
async function npmSettings() {
  const settings = ['registry', 'cache'];
  const answers = await Promise.all(
    settings.map((name) => capture('npm', ['config', 'get', name], { cwd: root, env })),
  );
  return settings.map((name, index) => `--${name}=${answers[index]?.output.trim().split('\n').at(-1)}`);
}

await runSuite('packed', async (words) => {
  if (words.length > 0) throw new Refusal('test:packed takes no words: the packages are tried together.');
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Refusal('This suite needs Linux on x64: only for it npm has Node 22, 24 and 26 as packages.');
  await installSuite(root, folder, 'three Nodes, three TypeScripts, esbuild and workerd (0.9 GB, once)');
  const built = await tell('building', () =>
    capture('turbo', ['run', 'build', '--output-logs=errors-only'], { cwd: root, env }),
  );
  if (built.code !== 0) throw new Refusal(`The build failed:\n${built.output.trim()}`);
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const args = [...flags, join(folder, 'src', 'main.ts'), await npmFolder(), ...(await npmSettings())];
  return handOver(process.execPath, args, { cwd: root, env });
});
