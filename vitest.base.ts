import type { UserProjectConfigExport } from 'vitest/config';
import { defineProject } from 'vitest/config';

/** Runs workspace packages from their sources, so that tests need no build. */
export const conditions: string[] = ['@cobbler/source', 'node', 'import', 'module', 'default'];

/** The test project of one package: everything in its `test` folder. */
export function project(name: string, include: string[] = ['test/**/*.test.ts']): UserProjectConfigExport {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    // The clock of most tests is a fake one; this only ends a test that hangs, on a busy machine too.
    test: { name, include, environment: 'node', testTimeout: 20_000, hookTimeout: 20_000 },
  });
}
