import { builtinModules } from 'node:module';
import type { BuildOptions } from 'esbuild';
import { build } from 'esbuild';
import type { V4MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import type { Row } from './board.ts';
import type { Program } from './readme.ts';
import { asFunction } from './readme.ts';
import type { Room } from './room.ts';

/**
 * `neutral` reads no main fields by default, but a dependency of the schema checker has nothing else.
 * Wrangler sets the same ones.
 */
const neutral: BuildOptions = { platform: 'neutral', mainFields: ['module', 'main'] };

const platforms = { neutral, browser: { platform: 'browser' } } as const satisfies Record<
  string,
  BuildOptions
>;

/** Returns the rows for the main entry and its program in runtimes other than Node. */
export function bundleRows(room: Room, program: Program): Row[] {
  const main = "export * from '@cobbler/agent';\n";
  return [
    ...Object.entries(platforms).map(([platform, options]) => ({
      claim: `esbuild, ${platform}: @cobbler/agent without warnings and modules of Node`,
      check: async () => {
        const { text, sources } = await bundled(room, main, options);
        return `${Math.round(text.length / 1024)} KiB of ${sources} modules`;
      },
    })),
    {
      claim: "workerd: the README's program",
      check: () => inWorkerd(room, program),
    },
  ];
}

/**
 * @param lazily true if code that is loaded on demand may name modules of Node
 * @throws Error if esbuild reports a warning, or an import of a Node module is left
 */
async function bundled(room: Room, contents: string, options: BuildOptions, lazily = false) {
  const { warnings, outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: room.folder, loader: 'ts' },
    absWorkingDir: room.folder,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2023',
    logLevel: 'silent',
    external: ['node:*', ...builtinModules],
    ...options,
  });
  const wrong = warnings.map(({ text, location }) => `${location?.file ?? ''}: ${text}`);
  for (const { imports } of Object.values(metafile?.outputs ?? {}))
    for (const { path, kind, external } of imports)
      if (external === true && !(lazily && kind === 'dynamic-import')) wrong.push(`It imports ${path}`);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return { text: outputFiles?.[0]?.text ?? '', sources: Object.keys(metafile?.inputs ?? {}).length };
}

async function inWorkerd(room: Room, program: Program): Promise<undefined> {
  const worker = `${asFunction(program)}
export default {
  async fetch() {
    const lines: string[] = [];
    await program({ log: (...words: unknown[]) => lines.push(words.join(' ')) });
    return new Response(lines.join('\\n'));
  },
};`;
  const options: BuildOptions = { ...neutral, conditions: ['workerd', 'worker'] };
  // The scripted model is part of the testing entry, whose test servers load modules of Node only when they start.
  const { text } = await bundled(room, worker, options, true);
  const workers = [{ name: 'readme', modules: true, script: text, compatibilityDate: '2026-11-01' }];
  const settings = { cf: false, log: new Log(LogLevel.ERROR), workers };
  const miniflare = new Miniflare(convertV4MiniflareOptions(settings as V4MiniflareOptions));
  try {
    const said = await (await miniflare.dispatchFetch('http://worker.invalid/')).text();
    if (said !== program.prints)
      throw new Error(`It responded with ${JSON.stringify(said)}, not ${program.prints}`);
  } finally {
    await miniflare.dispose();
  }
  return undefined;
}
