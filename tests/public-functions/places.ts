import type { Exported } from './exported.ts';
import type { SampleTable } from './table.ts';
import { withLimit } from './with-limit.ts';

/** A function, bound to an object that only its caller uses. */
export interface OpenPlace {
  /** The object of a method. */
  readonly owner: unknown;
  call(...args: readonly unknown[]): unknown;
}

/** A public function. */
export interface Place {
  /** Its name, as in the table of samples. */
  readonly name: string;
  /** True if the table must have a sample. */
  readonly needsSample: boolean;
  open(): Promise<OpenPlace>;
}

type Method = OpenPlace['call'];

/** Maximum number of calls in the name of a place, such as two in `createHarness().prompt().steer`. */
const maxCalls = 3;

/** A value in an object, because a thenable such as a run would be awaited. */
type Made = () => Promise<{ readonly value: unknown }>;

/** Returns the place of an exported value, and those of the functions in it and in what it returns for its sample. */
export async function placesOf(exported: Exported, table: SampleTable): Promise<readonly Place[]> {
  const { name, value, takesArguments } = exported;
  const inside = await placesIn(name, async () => ({ value }), table);
  if (typeof value !== 'function') return inside;
  const call: Method = isClass(value)
    ? (...args) => Reflect.construct(value, args)
    : (...args) => Reflect.apply(value, undefined, args);
  const own: Place = {
    name: isClass(value) ? `new ${name}` : name,
    needsSample: takesArguments ?? value.length > 0,
    open: async () => ({ owner: undefined, call }),
  };
  return [...(await withResults(own, table)), ...inside];
}

/** Returns the places of the objects that only functions of a caller receive. */
export async function placesOfObjects(table: SampleTable): Promise<readonly Place[]> {
  const objects = Object.entries(table.objects ?? {});
  const all = objects.map(([name, make]) => placesIn(name, async () => ({ value: await make() }), table));
  return (await Promise.all(all)).flat();
}

/** Returns a place and those in what it returns. */
async function withResults(own: Place, table: SampleTable): Promise<readonly Place[]> {
  const { name, needsSample } = own;
  const sample = table.samples[name] ?? (needsSample || name.includes('.') ? undefined : () => []);
  if (isExcepted(name, table) || sample === undefined || name.split('()').length > maxCalls) return [own];
  const result: Made = async () => {
    const { owner, call } = await own.open();
    const returned = call(...(await sample(owner as never)));
    return { value: returned instanceof Promise ? await withLimit(returned) : returned };
  };
  return [own, ...(await placesIn(`${name}()`, result, table))];
}

/** Returns the places of the methods of an object, or of a result that is a function. */
async function placesIn(name: string, make: Made, table: SampleTable): Promise<readonly Place[]> {
  const open = async (method?: string): Promise<OpenPlace> => {
    const { value: owner } = await make();
    return {
      owner,
      call: (...args) => (method === undefined ? (owner as Method)(...args) : call(owner, method, args)),
    };
  };
  const own = methodPlace(name, open);
  if (isExcepted(name, table)) return [own];
  // An invalid sample is reported when it is used.
  const { value } = await make().catch(() => ({ value: undefined }));
  if (typeof value === 'function' && name.endsWith('()')) return [own];
  // The methods of a schema are zod's, which defines some of them when they are first used.
  if (typeof value === 'object' && value !== null && '_zod' in value) return [];
  // What can be called on a generator is part of the language.
  if (Object.prototype.toString.call(value) === '[object AsyncGenerator]') return [];
  if (Array.isArray(value)) {
    const first: Made = async () => ({ value: ((await make()).value as unknown[])[0] });
    return await placesIn(`${name}[0]`, first, table);
  }
  const methods = methodsOf(value).map(async (method) => {
    return await withResults(
      methodPlace(`${name}.${method}`, () => open(method)),
      table,
    );
  });
  return (await Promise.all(methods)).flat();
}

function call(owner: unknown, method: string, args: readonly unknown[]): unknown {
  return (owner as Record<string, Method>)[method]?.(...args);
}

function methodPlace(name: string, open: Place['open']): Place {
  return { name, needsSample: false, open };
}

function isExcepted(name: string, { exceptions }: SampleTable): boolean {
  return Object.hasOwn(exceptions, name);
}

/** Returns the names of the functions of an object, or the static ones of a class. */
function methodsOf(value: unknown): readonly string[] {
  const names = new Set<string>();
  let owner: unknown = value;
  while (typeof owner === 'object' || typeof owner === 'function') {
    if (owner === null || isBuiltIn(owner)) break;
    for (const [name, { value: field }] of Object.entries(Object.getOwnPropertyDescriptors(owner)))
      if (typeof field === 'function' && name !== 'constructor') names.add(name);
    owner = Object.getPrototypeOf(owner);
  }
  return [...names];
}

/** Returns whether an object is of the platform. */
function isBuiltIn(owner: object): boolean {
  if (owner === Function.prototype || owner === Object.prototype) return true;
  const maker: unknown = typeof owner === 'function' ? owner : owner.constructor;
  return typeof maker === 'function' && maker !== Object && sourceOf(maker).endsWith('{ [native code] }');
}

function isClass(value: object): value is new () => unknown {
  return /^class\b/.test(sourceOf(value));
}

function sourceOf(value: object): string {
  return Function.prototype.toString.call(value);
}
