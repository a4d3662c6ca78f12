import { availableParallelism } from 'node:os';
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
    // One more than there are cores: much of the time a file waits for a process, a time-out or a service. Vitest's own
    // choice is one less, which on two cores runs file after file.
    maxWorkers: availableParallelism() + 1,
  },
});
