import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const source = fileURLToPath(new URL('..', import.meta.url));
const tsup = join(source, '../../node_modules/tsup/dist/cli-default.js');
const folder = mkdtempSync(join(tmpdir(), 'cobbler-claude-'));

interface Output {
  readonly bytes: number;
  readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[];
  readonly inputs: Readonly<Record<string, unknown>>;
}

const outputs = new Map<string, Output>();

beforeAll(() => {
  const built = spawnSync(process.execPath, [tsup, '--out-dir', folder, '--metafile'], {
    cwd: source,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`The build failed:\n${built.stdout}${built.stderr}`);
  const metafile: { outputs: Record<string, Output> } = JSON.parse(
    readFileSync(join(folder, 'metafile-esm.json'), 'utf8'),
  );
  for (const [path, output] of Object.entries(metafile.outputs)) outputs.set(nameOf(path), output);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the published package', () => {
  test('imports only @cobbler/agent, no other package and no Node module', async () => {
    const { metafile } = await build({
      entryPoints: ['index.js', 'testing/index.js'].map((name) => join(folder, name)),
      outdir: folder,
      bundle: true,
      format: 'esm',
      packages: 'external',
      external: ['node:*'],
      metafile: true,
      write: false,
    });
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
    const names = imports.flatMap(({ path, external }) => (external ? path : []));
    expect([...new Set(names)].sort()).toEqual([
      '@cobbler/agent',
      '@cobbler/agent/harness',
      '@cobbler/agent/input',
      '@cobbler/agent/provider',
      '@cobbler/agent/values',
    ]);
  });

  const isImportOfClient = ({ path, kind }: { path: string; kind: string }) =>
    path === './client.js' && kind === 'dynamic-import';

  test('contains only the used part of the vendor’s client, loaded on demand', () => {
    const hasClient = ({ inputs }: Output) =>
      Object.keys(inputs).some((path) => path.includes('@anthropic-ai/sdk'));
    const eager = reached('index.js');
    expect(eager.size).toBeGreaterThan(0);
    expect([...eager].filter((name) => hasClient(outputOf(name)))).toEqual([]);
    const client = [...outputs.keys()].filter((name) => hasClient(outputOf(name)));
    expect(client).toEqual([]);
    expect([...eager].some((name) => outputOf(name).imports.some(isImportOfClient))).toBe(true);
    expect(statSync(join(folder, 'client.js')).size).toBeLessThan(35_000);
  });

  test('describes a request with the same headers as the vendor’s client, without loading fetch', () => {
    const program = `
      const account = { apiKey: 'key', baseURL: 'http://127.0.0.1:1', maxRetries: 0, logLevel: 'off', webhookKey: null };
      const describe = async ({ BaseAnthropic }) => {
        const { url, req } = await new BaseAnthropic(account).buildRequest({ method: 'post', path: '/v1/messages' });
        return { url, headers: [...req.headers] };
      };
      const ours = await describe(await import(${JSON.stringify(join(folder, 'client.js'))}));
      const hasFetch = process.moduleLoadList.some((name) => name.includes('undici'));
      const theirs = await describe(await import('@anthropic-ai/sdk'));
      console.log(JSON.stringify({ ours, hasFetch, theirs }));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: source,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const { ours, hasFetch, theirs } = JSON.parse(stdout);
    expect(ours.headers.length).toBeGreaterThan(5);
    expect(ours).toEqual(theirs);
    expect(hasFetch).toBe(false);
  });

  test('includes the name, version and license of bundled code in NOTICES.txt', () => {
    const text = readFileSync(join(folder, 'NOTICES.txt'), 'utf8');
    expect(text).toMatch(/^@anthropic-ai\/sdk [\d.]+ \(Apache-2\.0\)$/m);
    expect(text).toContain('Apache License');
  });
});

/** Returns the path within the output directory; esbuild's paths depend on where it ran. */
function nameOf(path: string): string {
  return path.split(`${basename(folder)}/`).at(-1) ?? path;
}

function outputOf(name: string): Output {
  const output = outputs.get(name);
  if (output === undefined) throw new Error(`There is no ${name}.`);
  return output;
}

/** Returns a file and the files that it imports statically, directly or indirectly. */
function reached(name: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const { path, kind, external } of outputOf(name).imports) {
    if (kind === 'import-statement' && !external) reached(nameOf(path), seen);
  }
  return seen;
}
