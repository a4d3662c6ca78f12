import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserProjectConfigExport } from 'vitest/config';
import { configDefaults, defineProject } from 'vitest/config';

/** Runs workspace packages from their sources, so that tests need no build. */
export const conditions: string[] = ['@cobbler/source', 'node', 'import', 'module', 'default'];

/** Which files run: `quick` ones (`npm test`), the `slow` rest in `*.slow.test.ts` (`npm run verify`), or both (`full`). */
const level: string = process.env['COBBLER_TEST_LEVEL'] ?? 'quick';

const slow = '**/*.slow.test.{ts,tsx}';

export interface ProjectOptions {
  /** Whether each file has a process of its own, which costs it half a second. Default false: tests restore what they change. */
  readonly isolate?: boolean;
  /** Runs before the first file of the project, and what it returns after the last. */
  readonly globalSetup?: string[];
  /** In place of {@link conditions}. */
  readonly only?: string[];
}

/** The test project of one package: everything in its `test` folder. */
export function project(
  name: string,
  include: string[] = ['test/**/*.test.ts'],
  { isolate = false, globalSetup = [], only = conditions }: ProjectOptions = {},
): UserProjectConfigExport {
  return defineProject({
    resolve: { conditions: only },
    ssr: { resolve: { conditions: only, externalConditions: only } },
    // The clock of most tests is a fake one; this only ends a test that hangs, and a machine with ten times as much
    // to do as it has cores must not be taken for that.
    test: {
      name,
      include: level === 'slow' ? include.map((glob) => glob.replace('.test.', '.slow.test.')) : include,
      exclude: level === 'quick' ? [...configDefaults.exclude, slow] : configDefaults.exclude,
      isolate,
      globalSetup,
      environment: 'node',
      // Programs that tests start spend most of their time compiling what the one before them compiled.
      env: { NODE_COMPILE_CACHE: join(tmpdir(), 'cobbler-test-compiled') },
      // Set for each project, because none takes it from the root. One more than there are cores: many tests wait for a
      // process or a clock. Vitest's own choice, one less than there are cores, would run file after file on two.
      maxWorkers: availableParallelism() + 1,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
    },
  });
}
