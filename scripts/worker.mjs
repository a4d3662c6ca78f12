// What runs on Cloudflare, run in a real workerd: npm run verify -- worker [-- WORDS]. Fetches workerd and wrangler (0.2 GB,
// once) into e2e/worker and fails, not skips, when it cannot.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from './child.mjs';
import { installSuite, runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'e2e', 'worker');

await runSuite('worker', async (words) => {
  await installSuite(root, folder, 'workerd and wrangler (0.2 GB, once)');
  const config = join(folder, 'vitest.config.ts');
  const env = { ...process.env, NODE_NO_WARNINGS: '1' };
  return handOver('vitest', ['run', '--root', folder, '--config', config, ...words], { cwd: root, env });
});
