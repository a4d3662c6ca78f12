import { fileURLToPath } from 'node:url';
import type { ViteUserConfigExport } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { conditions } from '../../../vitest.base.ts';

/** The tests of the page in a real browser: a suite of its own, because it needs more than the workspace. */
const config: ViteUserConfigExport = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: 'faces of the page',
    include: ['*.test.ts'],
    globalSetup: ['./set-up.ts'],
    environment: 'node',
    // One browser at a time: what is measured is the page, not the machine.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: false,
  },
});

export default config;
