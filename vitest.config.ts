import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      'packages/*/vitest.config.ts',
      'apps/*/vitest.config.ts',
      '{scripts,tests,bench}/vitest.config.ts',
    ],
    reporters: ['default', './scripts/closing-line.ts'],
    allowOnly: false,
  },
});
