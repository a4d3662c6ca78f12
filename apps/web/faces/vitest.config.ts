import { fileURLToPath } from 'node:url';
import type { ViteUserConfigExport } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { conditions } from '../../../vitest.base.ts';
import { browserNames, whyMissing } from './installed.ts';

/** Tests that need the tracing or the protocol of Chromium, or that test more than the page. */
const onlyChromium = ['day.test.ts', 'long.test.ts', 'lighthouse.test.ts'];

/** Browser tests of the page in each installed browser: a separate suite, because it needs more than the workspace. */
const config: ViteUserConfigExport = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    globalSetup: ['./set-up.ts'],
    projects: browserNames
      .filter((name) => whyMissing(name) === undefined)
      .map((name) => ({
        extends: true as const,
        test: {
          name: `page in ${name}`,
          include: ['*.test.ts'],
          exclude: name === 'chromium' ? [] : onlyChromium,
          env: { COBBLER_PAGE_BROWSER: name },
          testTimeout: name === 'chromium' ? 60_000 : 120_000,
        },
      })),
    environment: 'node',
    // One browser at a time, so that the tests measure the page and not the machine.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: false,
  },
});

export default config;
