import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserProjectConfigExport } from 'vitest/config';
import { configDefaults, defineProject } from 'vitest/config';

/** Runs workspace packages from their sources, so that tests need no build. */
export const conditions: string[] = ['@cobbler/source', 'node', 'import', 'module', 'default'];

/**
 * Selects the files to run: `quick` ones (`npm test`), the `slow` rest in `*.slow.test.ts` (`npm run
 * verify`), or `full` for both.
 */
const level: string = process.env['COBBLER_TEST_LEVEL'] ?? 'quick';

const slow = '**/*.slow.test.{ts,tsx}';

export interface ProjectOptions {
  /**
   * True to run each file in its own process, which costs half a second. Default false: tests restore what
   * they change.
   */
  readonly isolate?: boolean;
  /** Runs before the first file of the project. The function that it returns runs after the last. */
  readonly globalSetup?: string[];
  /** Replaces {@link conditions}. */
  readonly only?: string[];
}

/** Returns the test project of one package: everything in its `test` directory. */
export function project(
  name: string,
  include: string[] = ['test/**/*.test.ts'],
  { isolate = false, globalSetup = [], only = conditions }: ProjectOptions = {},
): UserProjectConfigExport {
  return defineProject({
    resolve: { conditions: only },
    ssr: { resolve: { conditions: only, externalConditions: only } },
    // Most tests use a fake clock. This limit only ends a test that hangs, and must not be reached on a
    // machine with ten times as much work as cores.
    test: {
      name,
      include: level === 'slow' ? include.map((glob) => glob.replace('.test.', '.slow.test.')) : include,
      exclude: level === 'quick' ? [...configDefaults.exclude, slow] : configDefaults.exclude,
      isolate,
      globalSetup,
      environment: 'node',
      // Programs that tests start spend most of their time compiling the same files as the ones before.
      env: { NODE_COMPILE_CACHE: join(tmpdir(), 'cobbler-test-compiled') },
      // Set for each project, because no project inherits it from the root. One more than the number of
      // cores, because many tests wait for a process or a clock. Vitest's own default, one less, would run
      // file after file on two cores.
      maxWorkers: availableParallelism() + 1,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
    },
  });
}
