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

/** Returns the place of an exported value, and those of the functions in it and in what it returns for its sample. */
export async function placesOf(exported: Exported, table: SampleTable): Promise<readonly Place[]> {
  const { name, value, takesArguments } = exported;
  const inside = await placesIn(name, async () => value, table);
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

/** Returns a place and those in what it returns. */
async function withResults(own: Place, table: SampleTable): Promise<readonly Place[]> {
  const { name, needsSample } = own;
  const sample = table.samples[name] ?? (needsSample || name.includes('.') ? undefined : () => []);
  if (isExcepted(name, table) || sample === undefined || name.split('()').length > maxCalls) return [own];
  const result = async () => {
    const { owner, call } = await own.open();
    const returned = call(...(await sample(owner as never)));
    // A run is a thenable with methods of its own.
    return returned instanceof Promise ? await withLimit(returned) : returned;
  };
  return [own, ...(await placesIn(`${name}()`, result, table))];
}

/** Returns the places of the methods of an object, or of a result that is a function. */
async function placesIn(
  name: string,
  make: () => Promise<unknown>,
  table: SampleTable,
): Promise<readonly Place[]> {
  if (isExcepted(name, table)) return [];
  // An invalid sample is reported when it is used.
  const value = await make().catch(() => undefined);
  if (typeof value === 'function' && name.endsWith('()'))
    return [methodPlace(name, false, async () => ({ owner: value, call: (await make()) as Method }))];
  if (Array.isArray(value))
    return await placesIn(`${name}[0]`, async () => ((await make()) as unknown[])[0], table);
  const methods = methodsOf(value).map(async (method) => {
    const open = async (): Promise<OpenPlace> => {
      const owner = (await make()) as Record<string, Method>;
      return { owner, call: (...args) => owner[method]?.(...args) };
    };
    const { length } = (value as Record<string, Method>)[method] as Method;
    return await withResults(methodPlace(`${name}.${method}`, length > 1, open), table);
  });
  return (await Promise.all(methods)).flat();
}

function methodPlace(name: string, needsSample: boolean, open: Place['open']): Place {
  return { name, needsSample, open };
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
