import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));

/** Fields whose texts have a meaning for the types. All others are replaced, so that equal shapes are equal. */
const wordFields: ReadonlySet<string> = new Set([
  ...['type', 'role', 'media_type', 'display', 'effort', 'prefix_mismatch_behavior', 'ttl'],
  ...['stop_reason', 'service_tier', 'speed'],
]);

/** Fields that hold whatever a tool or a schema wants. */
const freeFields: ReadonlySet<string> = new Set(['input', 'properties', 'schema', '$defs', 'required']);

/** Keeps one of each shape among JSON values, with texts and numbers that say nothing replaced. */
export class ShapeSet {
  readonly #shapes = new Set<string>();

  add(value: unknown): void {
    this.#shapes.add(JSON.stringify(shapeOf(value, '')));
  }

  get size(): number {
    return this.#shapes.size;
  }

  /** As the items of an array in a source file. */
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

/** A list is as good as its different items. */
function shapesOf(items: readonly unknown[]): unknown[] {
  const shapes = new Set(items.map((item) => JSON.stringify(shapeOf(item, ''))));
  return [...shapes].map((shape) => JSON.parse(shape) as unknown);
}

/** Runs the type checker over a source that imports the vendor's types. Gives what it says; nothing is good. */
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
