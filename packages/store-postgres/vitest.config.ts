import { defineProject } from 'vitest/config';

// pg requires a part of itself: were the condition `import` given to Node, it would get the wrong kind of module.
const conditions = ['@cobbler/source'];

export default defineProject({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name: 'store-postgres',
    include: ['test/**/*.test.ts'],
    environment: 'node',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
