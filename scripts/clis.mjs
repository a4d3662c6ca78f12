// Fetches the real programs (0.8 GB, once) into e2e/clis and drives them: npm run verify -- clis [-- WORDS].
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';
import { installSuite, runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'e2e', 'clis');

await runSuite('clis', async (words) => {
  await installSuite(root, folder, 'claude and codex (0.8 GB, once)');
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const args = [...flags, join(folder, 'src', 'main.ts'), ...words];
  return handOver(process.execPath, args, { cwd: folder, env: cleanEnvironment(process.env) });
});
