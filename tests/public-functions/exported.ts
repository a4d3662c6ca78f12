import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A value that an entry exports. */
export interface Exported {
  readonly name: string;
  readonly value: unknown;
  /** False if the declaration of a function has no parameters; undefined for constants. */
  readonly takesArguments: boolean | undefined;
}

/**
 * Loads what the entries of a package export, by the names in its api.md, each declaration once.
 * @throws Error for a name that only one of api.md and the entry has.
 */
export async function exportedBy(folder: string): Promise<readonly Exported[]> {
  const { exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const [, ...sections] = readFileSync(join(root, folder, 'api.md'), 'utf8').split(/^## /m);
  const all = await Promise.all(
    sections.map(async (section) => {
      const [specifier = ''] = section.split('\n', 1);
      const entry = specifier.split('/').slice(2).join('/');
      const file = exports[entry === '' ? '.' : `./${entry}`]['@cobbler/source'];
      const values: Record<string, unknown> = await import(join(root, folder, file));
      return namesIn(section, Object.keys(values), specifier).map((declared) => ({
        ...declared,
        value: values[declared.name],
      }));
    }),
  );
  return all.flat();
}

const declaration =
  /^(?:(?:async )?(function)\*? (\w+)|class (\w+)|const (\w+)|(\w+) \/\/)(.*(?:\n {2}.*)*)/gm;

function namesIn(
  section: string,
  values: readonly string[],
  specifier: string,
): readonly Pick<Exported, 'name' | 'takesArguments'>[] {
  const declared = [...section.matchAll(declaration)].map(([, isFunction, ...groups]) => {
    const [called, built, constant, repeated, rest = ''] = groups;
    const name = called ?? built ?? constant ?? repeated ?? '';
    const byKind = isFunction ? !/^[^(]*\(\)/.test(rest) : /constructor\([^)]/.test(rest);
    const takesArguments = constant === undefined ? byKind : undefined;
    return { name, takesArguments, isRepeated: repeated !== undefined };
  });
  const missing = values.filter((value) => !declared.some(({ name }) => name === value));
  if (missing.length > 0) throw new Error(`api.md of ${specifier} lacks ${missing.join(', ')}`);
  // A class can be exported as a type only.
  return declared.filter(({ name, isRepeated }) => !isRepeated && values.includes(name));
}
