import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Share } from './check-place.ts';
import { problemsOf } from './check-place.ts';
import { exportedBy } from './exported.ts';
import { oddArguments } from './odd-arguments.ts';
import { pending, tables } from './packages.ts';
import type { Place } from './places.ts';
import { placesOf, placesOfObjects } from './places.ts';
import type { SampleTable } from './table.ts';

const root = join(import.meta.dirname, '..', '..');

/** Defines a test for each package that calls every function with odd arguments. */
export function describePublicFunctions(share: Share): void {
  const started = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'public-functions-'));
  // Some of the values are texts, and some functions take the path of a file to create.
  const used = Object.values(tables).flatMap((table) => table.folder ?? []);
  beforeAll(() => {
    process.chdir(folder);
    for (const path of used) mkdirSync(path, { recursive: true });
  });
  afterAll(() => {
    process.chdir(started);
    for (const path of [folder, ...used]) rmSync(path, { recursive: true, force: true });
  });
  const folders = globSync('{packages,apps}/*/api.md', { cwd: root }).map(dirname).sort();
  describe('public functions', () => {
    for (const folder of folders)
      test(`of ${folder} accept an argument or throw an AgentError with a code [P26]`, {
        timeout: 600_000,
      }, async (context) => {
        context.skip(
          pending.includes(folder),
          'its functions define tests, and do not check all arguments yet',
        );
        expect((await problemsIn(folder, share)).join('\n')).toBe('');
      });
  });
}

async function problemsIn(folder: string, share: Share): Promise<readonly string[]> {
  const table = tables[folder] ?? { samples: {}, exceptions: {} };
  const problems: string[] = [];
  const places: Place[] = [...(await placesOfObjects(table))];
  for (const exported of await exportedBy(folder)) places.push(...(await placesOf(exported, table)));
  for (const place of places) problems.push(...(await problemsOf(place, table, oddArguments, share)));
  return [...problems, ...unknownNames(table, places)];
}

/** Returns a problem for each name in a table that does not belong to a function. */
function unknownNames({ samples, exceptions }: SampleTable, places: readonly Place[]): readonly string[] {
  const names = new Set(places.map(({ name }) => name));
  return [...Object.keys(samples), ...Object.keys(exceptions)]
    .filter((name) => !names.has(name))
    .map((name) => `${name} of sample-arguments.ts is not a function`);
}
