import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Programs that are started as processes of their own. */
export interface Programs {
  readonly measured: string;
  readonly clients: string;
}

/** Built files are measured: to strip the types of sources costs time and memory. */
export async function buildPrograms(folder: string): Promise<Programs> {
  const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  await build({
    entryPoints: { measured: source('measured.ts'), clients: source('clients.ts') },
    conditions: ['@cobbler/source'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    // The page is no part of what is measured.
    external: ['@cobbler/web/page'],
    logLevel: 'error',
  });
  return { measured: join(folder, 'measured.mjs'), clients: join(folder, 'clients.mjs') };
}
