import { fileURLToPath } from 'node:url';
import type { ViteUserConfigExport } from 'vitest/config';
import { defineConfig } from 'vitest/config';

// pg loads its own parts with require, for which the condition `import` resolves to the wrong module.
const conditions = ['@cobbler/source'];

/** Tests of `cobbler serve` on Restate and PostgreSQL. They need both servers, so `npm test` does not include them. */
const config: ViteUserConfigExport = defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: 'scale',
    include: ['test/*.test.ts'],
    environment: 'node',
    testTimeout: 90_000,
    hookTimeout: 120_000,
    allowOnly: false,
  },
});

export default config;
