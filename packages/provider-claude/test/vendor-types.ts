import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));

/** Fields whose strings matter to the types; in other fields, all strings become equal. */
const wordFields: ReadonlySet<string> = new Set([
  ...['type', 'role', 'media_type', 'display', 'effort', 'prefix_mismatch_behavior', 'ttl'],
  ...['stop_reason', 'service_tier', 'speed'],
]);

/** Fields with arbitrary content from a tool or a schema. */
const freeFields: ReadonlySet<string> = new Set(['input', 'properties', 'schema', '$defs', 'required']);

/** Keeps one JSON value of each shape; normalizes strings and numbers that the types ignore. */
export class ShapeSet {
  readonly #shapes = new Set<string>();

  add(value: unknown): void {
    this.#shapes.add(JSON.stringify(shapeOf(value, '')));
  }

  get size(): number {
    return this.#shapes.size;
  }

  /** Returns the shapes as the items of an array in a source file. */
  source(): string {
    return [...this.#shapes].join(',\n');
  }
}

function shapeOf(value: unknown, field: string): unknown {
  if (freeFields.has(field)) return Array.isArray(value) ? [] : {};
  if (typeof value === 'string') return wordFields.has(field) ? value : 'text';
  if (typeof value === 'number') return 1;
  if (Array.isArray(value)) return shapesOf(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item, key)]));
}

/** Returns the distinct shapes of the items. */
function shapesOf(items: readonly unknown[]): unknown[] {
  const shapes = new Set(items.map((item) => JSON.stringify(shapeOf(item, ''))));
  return [...shapes].map((shape) => JSON.parse(shape) as unknown);
}

/** Type-checks a source that imports the vendor's types. Returns the errors; empty if none. */
export async function checkTypes(source: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cobbler-types-'));
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'] },
  };
  try {
    await symlink(join(packageFolder, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['agreement.ts'] }),
    );
    await writeFile(join(folder, 'agreement.ts'), source);
    return await run(join(folder, 'tsconfig.json'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(project: string): Promise<string> {
  const root = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const { bin } = createRequire(import.meta.url)('typescript/package.json') as { bin: { tsc: string } };
  try {
    await promisify(execFile)(process.execPath, [join(root, bin.tsc), '-p', project]);
    return '';
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    return stdout === undefined || stdout === '' ? String(error) : stdout;
  }
}
