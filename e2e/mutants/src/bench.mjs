// A copy of packages and apps in the temporary directory, into which one mutant at a time is written. It is made once,
// so that the working tree can be edited while mutants run and is never changed by them.
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** The checks of a package that has a test/subjects.ts and no test/checks.ts. */
const subjectChecks = `
import { agentContract } from '@cobbler/conformance';
import { subjects } from './subjects.ts';
export const checks = subjects.map((subject) => ({
  name: subject.name,
  cases: () => agentContract({ ...subject, slack: 8 }, { seeds: { count: 40 } }),
}));
`;

const vitestConfig = `
const conditions = ['@cobbler/source', 'node', 'import', 'module', 'default'];
export default {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { isolate: false, fileParallelism: false, watch: false },
};
`;

export class Bench {
  /** The directory of the copy. */
  folder;

  constructor(folder) {
    this.folder = folder;
  }

  /** Copies packages and apps below `root`. They import each other's copies, and the real modules of other packages. */
  static async open(root) {
    const bench = new Bench(await mkdtemp(join(tmpdir(), 'cobbler-mutants-')));
    for (const group of ['packages', 'apps'])
      for (const name of await readdir(join(root, group))) await bench.#add(join(root, group, name), root);
    return bench;
  }

  home(packageName) {
    return join(this.folder, packageName);
  }

  /** The directory for the compile caches of Node and vitest. */
  get cache() {
    return join(this.folder, 'cache');
  }

  /** Runs `work` with the mutant in place; without a mutant for `undefined`. */
  async with(mutant, work) {
    if (mutant === undefined) return work();
    const path = join(this.home(mutant.home), mutant.file);
    const sound = await readFile(path, 'utf8');
    await writeFile(path, mutated(sound, mutant));
    try {
      return await work();
    } finally {
      await writeFile(path, sound);
    }
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async #add(from, root) {
    const to = this.home(basename(from));
    for (const part of ['src', 'test', 'package.json'])
      if (existsSync(join(from, part))) await cp(join(from, part), join(to, part), { recursive: true });
    await this.#link(join(to, 'node_modules'), [join(from, 'node_modules'), join(root, 'node_modules')]);
    await writeFile(join(to, 'vitest.config.mjs'), vitestConfig);
    const checks = join(to, 'test/checks.ts');
    if (existsSync(join(to, 'test/subjects.ts')) && !existsSync(checks))
      await writeFile(checks, subjectChecks);
  }

  async #link(modules, sources) {
    await mkdir(join(modules, '@cobbler'), { recursive: true });
    for (const source of sources.filter(existsSync)) {
      const ours = join(source, '@cobbler');
      const siblings = existsSync(ours) ? await readdir(ours) : [];
      await linkAll(siblings, (name) => [this.home(name), join(modules, '@cobbler', name)]);
      const others = (await readdir(source)).filter((name) => !name.startsWith('.'));
      await linkAll(others, (name) => [join(source, name), join(modules, name)]);
    }
  }
}

/** Returns how often the code that a mutant changes occurs in a text. It must occur exactly once. */
export function placesIn(text, { find }) {
  return text.split(find).length - 1;
}

function mutated(text, mutant) {
  const places = placesIn(text, mutant);
  if (places !== 1)
    throw new Error(`The code that the mutant "${mutant.why}" changes occurs ${places} times.`);
  return text.split(mutant.find).join(mutant.replace);
}

async function linkAll(names, ends) {
  // lstat also finds a link whose target, a copy, does not exist yet.
  for (const [target, path] of names.map(ends))
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) await symlink(target, path);
}
