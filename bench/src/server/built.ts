import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Programs that run in separate processes. */
export interface Programs {
  readonly measured: string;
  readonly clients: string;
}

/** Builds the programs, because stripping the types of sources costs time and memory. */
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
    // The page is not part of the measurement.
    external: ['@cobbler/web/page'],
    logLevel: 'error',
  });
  return { measured: join(folder, 'measured.mjs'), clients: join(folder, 'clients.mjs') };
}
