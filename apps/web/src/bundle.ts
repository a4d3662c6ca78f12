import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** A served file of the page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

/** The files of the page by path; `/` is the page itself. */
export type PageFiles = Readonly<Record<string, PageFile>>;

const source = fileURLToPath(new URL('./app/', import.meta.url));

const types: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css', html: 'text/html' };

/** Builds the page. Takes under a second. */
export async function bundle(): Promise<PageFiles> {
  const modules = new Set<string>();
  const built = await build({
    root: source,
    configFile: false,
    logLevel: 'error',
    base: '/',
    mode: 'production',
    // Set explicitly: with the value of a test environment, the page would contain the paths of its sources.
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    resolve: { conditions: ['@cobbler/source', 'browser', 'import', 'module', 'default'] },
    plugins: [
      {
        name: 'modules',
        generateBundle(_options, chunks) {
          for (const chunk of Object.values(chunks)) {
            if (chunk.type === 'chunk') for (const id of Object.keys(chunk.modules)) modules.add(id);
          }
        },
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      cssTarget: ['chrome125', 'firefox128', 'safari18'],
      modulePreload: false,
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      reportCompressedSize: false,
      rolldownOptions: {
        output: {
          entryFileNames: 'assets/page-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          assetFileNames: 'assets/page-[hash][extname]',
        },
      },
    },
  });
  if (!('output' in built)) throw new Error('The page was not built.');
  const files = built.output.map((file): [string, PageFile] => {
    const text = file.type === 'chunk' ? file.code : String(file.source);
    const path = file.fileName === 'index.html' ? '/' : `/${file.fileName}`;
    return [
      path,
      { type: `${types[file.fileName.split('.').at(-1) ?? ''] ?? 'text/plain'}; charset=utf-8`, text },
    ];
  });
  const notices = { type: 'text/plain; charset=utf-8', text: noticesOf(modules) };
  return { ...Object.fromEntries(files), '/assets/notices.txt': notices };
}

/** Returns the licenses of the code in the page, as their terms require. */
function noticesOf(modules: Iterable<string>): string {
  const folders = [...modules].flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const notes = [...new Set(folders)].map((folder) => {
    const manifest: { name: string; version: string; license: string } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    const terms = globSync('{LICEN[CS]E,COPYING,NOTICE}*', { cwd: folder })
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8').trim());
    return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${terms.join('\n\n')}`;
  });
  return `${notes.sort().join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}
