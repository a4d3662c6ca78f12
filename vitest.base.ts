import { availableParallelism } from 'node:os';
import type { UserProjectConfigExport } from 'vitest/config';
import { defineProject } from 'vitest/config';

/** Runs workspace packages from their sources, so that tests need no build. */
export const conditions: string[] = ['@cobbler/source', 'node', 'import', 'module', 'default'];

export interface ProjectOptions {
  /** Whether each file has a process of its own, which costs it half a second. Off where no test changes a global. */
  readonly isolate?: boolean;
  /** Runs before the first file of the project, and what it returns after the last. */
  readonly globalSetup?: string[];
}

/** The test project of one package: everything in its `test` folder. */
export function project(
  name: string,
  include: string[] = ['test/**/*.test.ts'],
  { isolate = true, globalSetup = [] }: ProjectOptions = {},
): UserProjectConfigExport {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    // The clock of most tests is a fake one; this only ends a test that hangs, and a machine with ten times as much
    // to do as it has cores must not be taken for that.
    test: {
      name,
      include,
      isolate,
      globalSetup,
      environment: 'node',
      // Said for each project, because none takes it from the root. Vitest's own choice is one less than there are cores,
      // which on two of them runs file after file.
      maxWorkers: availableParallelism(),
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
    },
  });
}
