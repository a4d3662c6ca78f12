import { defineConfig } from 'vitest/config';
import { project } from './vitest.base.ts';

/** Tests that load `.tsx` files. */
const page = ['apps/web/test/**/*.test.ts', 'tests/attacks/characters.test.ts'];

export default defineConfig({
  test: {
    projects: [
      project(
        'node',
        [
          'packages/*/test/**/*.test.ts',
          'apps/{server,worker}/test/**/*.test.ts',
          '{bench,scripts,tests}/**/*.test.ts',
        ],
        { exclude: page },
      ),
      project('cli', ['apps/cli/test/**/*.test.ts'], { globalSetup: ['apps/cli/test/support/bundled.ts'] }),
      project('page', page, { compiled: true }),
    ],
    reporters: ['default', './scripts/closing-line.ts'],
    allowOnly: false,
  },
});
