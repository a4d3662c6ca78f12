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
  const notes = folders.map((folder) => {
    const manifest: { name: string; version: string; license: string } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    const texts = globSync('{LICEN[CS]E,COPYING,NOTICE}*', { cwd: folder }).sort();
    const terms = texts.map((name) => readFileSync(join(folder, name), 'utf8').trim());
    return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${terms.join('\n\n')}`;
  });
  return `${notes.sort().join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}
