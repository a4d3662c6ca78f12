import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** Writes down beside a bundle whose work it contains and on what terms, which is what those terms ask for. */
export function notices(name: string): Plugin {
  return {
    name: 'notices',
    setup(build) {
      const { absWorkingDir = process.cwd(), outdir = '.' } = build.initialOptions;
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        if (metafile === undefined) return;
        const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
        const folders = foldersOf(used).map((folder) => resolve(absWorkingDir, folder));
        const place = resolve(absWorkingDir, outdir);
        mkdirSync(place, { recursive: true });
        writeFileSync(join(place, name), noticesOf(folders));
      });
    },
  };
}

/** The folder of each package that one of these files belongs to. */
function foldersOf(files: readonly string[]): string[] {
  const folders = files.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)];
}

function noticesOf(folders: readonly string[]): string {
  const packages = folders.map(termsOf);
  const notes = packages.map((one) => {
    const { name, version, license, terms } = one;
    const text = [terms, ...(isWhole(one) ? [] : [termsOfAnother(one, packages)])].join('\n\n').trim();
    return `${name} ${version} (${license})\n\n${text}`;
  });
  return `${notes.sort().join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}

interface Terms {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Empty when the package comes without. */
  readonly terms: string;
}

function termsOf(folder: string): Terms {
  const manifest: Omit<Terms, 'terms'> = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license } = manifest;
  const texts = globSync('{LICEN[CS]E,COPYING,NOTICE}*', { cwd: folder }).sort();
  const terms = texts.map((text) => readFileSync(join(folder, text), 'utf8').trim()).join('\n\n');
  return { name, version, license, terms };
}

/** Shorter than any terms that say something: such a file only points to another place. */
function isWhole({ terms }: Terms): boolean {
  return terms.length >= 500;
}

/** Who publishes several packages from one place sometimes leaves the terms out of one of them. */
function termsOfAnother({ name, license }: Terms, packages: readonly Terms[]): string {
  const same = packages.filter((one) => one.license === license && isWhole(one));
  const scope = /^@[^/]+\//.exec(name)?.[0];
  const sibling = same.find((one) => scope !== undefined && one.name.startsWith(scope));
  return (sibling ?? same[0])?.terms ?? '';
}
