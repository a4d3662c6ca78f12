import { fileURLToPath } from 'node:url';
import type { ViteUserConfigExport } from 'vitest/config';
import { defineConfig } from 'vitest/config';

// pg requires a part of itself: were the condition `import` given to Node, it would get the wrong kind of module.
const conditions = ['@cobbler/source'];

/** `cobbler serve` on Restate and PostgreSQL: needs both, so it is no part of `npm test`. */
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
