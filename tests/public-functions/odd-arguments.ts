import { AgentError } from '@cobbler/agent';
import type { OddValue } from '../../packages/conformance/src/executor/untyped/values.ts';
import { oddValues } from '../../packages/conformance/src/executor/untyped/values.ts';

/** A getter that throws Cobbler's own error, which does not name the field. */
const ownErrors: OddValue = {
  name: 'fields that throw an AgentError',
  make: () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new AgentError({ kind: 'invalid', code: 'own', message: 'An error of a getter.' });
        },
      },
    ),
};

/** Name of the function that throws. */
export const throwing = 'a function that throws';

/** Values of the contract of untyped callers that each find another kind of mistake; all of them take minutes. */
const chosen: ReadonlySet<string> = new Set([
  ...['undefined of type undefined', 'null of type object', '5 of type number', '-1 of type number'],
  ...['NaN of type number', '10 of type bigint', 'Symbol(odd) of type symbol', 'the string "text"'],
  ...['an empty object', 'an empty array', 'an object without a prototype', throwing],
  ...['a proxy whose traps throw', 'a revoked proxy', 'a cyclic object', 'a cyclic array'],
  ...['an array with null', 'getters that return something else each time', 'an own field __proto__'],
]);

/** The values to pass. */
export const oddArguments: readonly OddValue[] = [
  ...oddValues.filter(({ name }) => chosen.has(name)),
  ownErrors,
];

/** A call with one odd value. */
export interface OddCall {
  /** The position of the value, such as `argument 1.limits.turns`. */
  readonly at: string;
  readonly odd: string;
  /** Returns the arguments, made from valid ones. */
  change(args: readonly unknown[]): readonly unknown[];
}

/** Maximum depth at which a field of a valid argument is replaced. */
const maxDepth = 4;

/** Returns the calls with an odd first argument alone, and with one odd argument or field among these valid ones. */
export function oddCalls(args: readonly unknown[], odds: readonly OddValue[]): readonly OddCall[] {
  const first = odds.map(
    ({ name, make }): OddCall => ({ at: 'argument 1 alone', odd: name, change: () => [make()] }),
  );
  const others = args
    .flatMap((value, index) => pathsIn(value, [index]))
    .flatMap(({ path, isCode }) =>
      odds
        // The caller's own code may throw the caller's own errors.
        .filter(({ name }) => !(isCode && name === throwing))
        .map(({ name, make }): OddCall => {
          const [index, ...keys] = path;
          const at = [`argument ${Number(index) + 1}`, ...keys].join('.');
          return { at, odd: name, change: (valid) => replaced(valid, path, make()) as readonly unknown[] };
        }),
    );
  return [...first, ...others];
}

interface PathTo {
  readonly path: readonly (string | number)[];
  readonly isCode: boolean;
}

/** Returns the path of a value and those of the fields of plain data in it. Of an array, only the first item counts. */
function pathsIn(value: unknown, path: PathTo['path']): readonly PathTo[] {
  const own = { path, isCode: typeof value === 'function' };
  if (path.length > maxDepth || !isPlain(value)) return [own];
  const keys = Array.isArray(value) ? [0].slice(0, value.length) : Object.keys(value);
  return [
    own,
    ...keys.flatMap((key) => pathsIn((value as Record<string | number, unknown>)[key], [...path, key])),
  ];
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns a copy of plain data with another value at a path. */
function replaced(value: unknown, [key, ...rest]: PathTo['path'], odd: unknown): unknown {
  if (key === undefined) return odd;
  const fields = value as Record<string | number, unknown>;
  const field = replaced(fields[key], rest, odd);
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? field : item));
  return { ...fields, [key]: field };
}
