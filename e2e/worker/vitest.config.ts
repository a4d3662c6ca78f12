import { fileURLToPath } from 'node:url';
import type { ViteUserConfigExport } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { conditions } from '../../vitest.base.ts';

/** Tests on a real workerd: a separate suite, because it needs more than the workspace. */
const config: ViteUserConfigExport = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: 'worker',
    include: ['test/*.test.ts'],
    environment: 'node',
    reporters: ['default', './src/counts.ts'],
    // Each file has its own workerd and runs in real time.
    fileParallelism: false,
    // One case creates 1,000 instances of a Workflow.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    allowOnly: false,
  },
});

export default config;
