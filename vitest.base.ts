import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserProjectConfigExport } from 'vitest/config';
import { configDefaults, defineProject } from 'vitest/config';

const source = '@cobbler/source';

/** Lets Vite resolve workspace packages to their sources, so that tests need no build. */
export const conditions: string[] = [source, 'node', 'import', 'module', 'default'];

/**
 * Selects the files to run: `quick` ones (`npm test`), the `slow` rest in `*.slow.test.ts` (`npm run
 * verify`), or `full` for both.
 */
const level: string = process.env['COBBLER_TEST_LEVEL'] ?? 'quick';

const slow = '**/*.slow.test.{ts,tsx}';

export interface ProjectOptions {
  /** Files of `include` that belong to another project. */
  readonly exclude?: string[];
  /** Runs before the first file of the project. The function that it returns runs after the last. */
  readonly globalSetup?: string[];
  /**
   * True if tests import files that Node cannot load, such as `.tsx`: Vite then compiles every module.
   * Default false: Node loads the sources itself, in a fifth of the time.
   */
  readonly compiled?: boolean;
}

/** Returns a test project: files that share processes, so that each process loads a module once. */
export function project(
  name: string,
  include: string[],
  { exclude = [], globalSetup = [], compiled = false }: ProjectOptions = {},
): UserProjectConfigExport {
  return defineProject({
    resolve: { conditions },
    // Vitest starts Node with these. `import` would apply to `require` too.
    ssr: { resolve: { conditions: compiled ? conditions : [source], externalConditions: conditions } },
    // Most tests use a fake clock. This limit only ends a test that hangs, and must not be reached on a
    // machine with ten times as much work as cores.
    test: {
      name,
      include: level === 'slow' ? include.map((glob) => glob.replace('.test.', '.slow.test.')) : include,
      exclude: [...configDefaults.exclude, ...exclude, ...(level === 'quick' ? [slow] : [])],
      // Tests restore what they change.
      isolate: false,
      globalSetup,
      environment: 'node',
      experimental: { viteModuleRunner: compiled, nodeLoader: false },
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
