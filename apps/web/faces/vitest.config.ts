import { fileURLToPath } from 'node:url';
import type { ViteUserConfigExport } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { conditions } from '../../../vitest.base.ts';

/** Browser tests of the page: a separate suite, because it needs more than the workspace. */
const config: ViteUserConfigExport = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: 'page in a browser',
    include: ['*.test.ts'],
    globalSetup: ['./set-up.ts'],
    environment: 'node',
    // One browser at a time, so that the tests measure the page and not the machine.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: false,
  },
});

export default config;
