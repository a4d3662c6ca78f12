/**
 * Readers of values from callers. A public function passes each argument to one reader, which returns data of our own or
 * throws an `AgentError` with the path of the invalid field (decision 0136).
 *
 * @module
 */

import { AgentError, withArgumentErrors } from './errors.ts';
import { shown } from './invalid-value.ts';
import { isObject } from './json.ts';
import { isOwned } from './owned.ts';
import { NotPlain, plainCopy } from './plain.ts';
import { sizeOf } from './sizes.ts';
import type { Usage } from './usage.ts';

/**
 * Reads a value from outside: returns data of our own, or throws what {@link invalid} returns. `owner` is the object that
 * has the value as a field.
 */
export type Reader<Value> = (value: unknown, owner?: unknown) => Value;

/** The readers of all fields of an object. */
export type Readers<Fields> = {
  readonly [Name in keyof Fields]-?: Reader<Exclude<Fields[Name], undefined>>;
};

// Reading is synchronous, so there is one current value. What a reader leaves here when it throws is the place.
let path = 'value';
let code = 'bad_option';

/** Maximum length of a path in a message. */
const maxPath = 200;

/** Codes of values that no caller passed, but an agent or a store of theirs returned. */
const returned = ['bad_answer', 'store'];

/**
 * Returns the error for the value that is being read.
 * @param advice what to use instead, without a final period.
 * @param below the path below the value, such as `.role`.
 */
export function invalid(value: unknown, advice: string, below = ''): AgentError {
  const where = (path + below).slice(0, maxPath);
  const message = `${where} is invalid: it is ${shown(value)}. ${advice}.`;
  return new AgentError({ kind: returned.includes(code) ? 'agent' : 'invalid', code, message });
}

/** Returns the error for a value whose getter or proxy threw, even if that was an AgentError: it knows no path. */
function unreadable(value: unknown): AgentError {
  return invalid(value, 'Use a value that can be read');
}

/**
 * Reads a value from a caller once.
 * @throws AgentError `invalid` with this code, which names the path and the expected value. A value that cannot be
 * read, such as a revoked proxy, is invalid too.
 */
export function read<Value>(
  value: unknown,
  reader: Reader<Value>,
  startPath = 'options',
  startCode = 'bad_option',
): Value {
  const outerPath = path;
  const outerCode = code;
  path = startPath;
  code = startCode;
  try {
    return reader(value);
  } catch (thrown) {
    throw AgentError.is(thrown) ? thrown : unreadable(value);
  } finally {
    path = outerPath;
    code = outerCode;
  }
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader whose errors have this code. */
export function coded<Value>(itsCode: string, reader: Reader<Value>): Reader<Value> {
  return (value, owner) => {
    const outer = code;
    code = itsCode;
    const result = reader(value, owner);
    code = outer;
    return result;
  };
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for values that pass a test. `what` is the expected value. */
export function when<Value>(test: (value: unknown) => boolean, what: string): Reader<Value> {
  return (value) => {
    if (test(value)) return value as Value;
    throw invalid(value, `Use ${what}`);
  };
}

/** A reader whose result has whatever type the field has. */
type AnyReader = <Value>(value: unknown, owner?: unknown) => Value;

/** Accepts any value, for code that checks it later. */
export const any: AnyReader = when<never>(() => true, '');
/** A string. */
export const text: Reader<string> = when((value) => typeof value === 'string', 'a string');
/** True or false. */
export const flag: Reader<boolean> = when((value) => typeof value === 'boolean', 'true or false');
/** Any number of at least 0, including `Infinity`. */
export const amount: Reader<number> = when(
  (value) => typeof value === 'number' && value >= 0,
  'a number of at least 0',
);
/** A whole number from 0 to 10^12, so that sums stay exact. */
export const count: Reader<number> = when(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1e12,
  'a whole number of at least 0',
);

/** A signal of another realm is not accepted, because its listeners cannot be trusted to be called. */
export const signal: Reader<AbortSignal> = when(
  (value) => value instanceof AbortSignal && typeof value.aborted === 'boolean',
  'the signal of an AbortController',
);

const isFunction = when<() => unknown>((value) => typeof value === 'function', 'a function');

/** Reads a function. It stays bound to the object from which it is read. */
export const callable: AnyReader = (value, owner) => isFunction(value).bind(owner) as never;

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader that accepts undefined too. */
export function optional<Value>(reader: Reader<Value>): Reader<Value | undefined> {
  return (value, owner) => (value === undefined ? value : reader(value, owner));
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for values of at most so many bytes, estimated from their texts. */
export function limited<Value>(maxBytes: number, reader: Reader<Value>): Reader<Value> {
  return (value, owner) => {
    const own = reader(value, owner);
    const bytes = sizeOf(own);
    if (bytes > maxBytes) throw invalid(value, `Use at most ${maxBytes} bytes instead of ${bytes}`);
    return own;
  };
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for one of these words. */
export function oneOf<Word extends string>(...words: readonly Word[]): Reader<Word> {
  return withArgumentErrors('oneOf', () =>
    when((value) => words.some((word) => word === value), `"${words.join('" or "')}"`),
  );
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for an object with these methods. The object itself is used, because it is code and not data. */
export function withMethods<Value>(...names: readonly (keyof Value & string)[]): Reader<Value> {
  return withArgumentErrors('withMethods', () =>
    when(
      (value) => isObject(value) && names.every((name) => typeof value[name] === 'function'),
      `an object with the functions ${names.join(', ')}`,
    ),
  );
}

/** Reads a field or an item, whose getter may throw. */
function fieldOf(value: object, name: string | number): unknown {
  try {
    return Reflect.get(value, name);
  } catch {
    throw unreadable(value);
  }
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for arrays. The result is a frozen array of what `item` returns. */
export function listOf<Item>(item: Reader<Item>, what = 'an array'): Reader<readonly Item[]> {
  return (value) => {
    if (!Array.isArray(value)) throw invalid(value, `Use ${what}`);
    const items: Item[] = [];
    const outer = path;
    // By index, so that the first hole of a sparse array ends it.
    for (let index = 0; index < value.length; index += 1) {
      path = `${outer}[${index}]`;
      items.push(item(fieldOf(value, index), value));
    }
    path = outer;
    return Object.freeze(items);
  };
}

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for objects. The result is a frozen object with these fields, each of which is read once. */
export function record<Fields extends object>(
  readers: Readers<Fields>,
  required: readonly (keyof Fields)[] = [],
  what = 'an object',
): Reader<Fields> {
  return (value) => {
    if (!isObject(value)) throw invalid(value, `Use ${what}`);
    const fields: Partial<Fields> = {};
    const outer = path;
    for (const name in readers) {
      path = `${outer}.${name}`;
      const given = fieldOf(value, name);
      if (given === undefined && !required.includes(name)) continue;
      const reader: Reader<Fields[typeof name] | undefined> = readers[name];
      const own = reader(given, value);
      if (own !== undefined) fields[name] = own;
    }
    path = outer;
    return Object.freeze(fields) as Fields;
  };
}

/** Reads a usage. */
export const readUsage: Reader<Usage> = record<Usage>(
  {
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    cacheWriteLongTokens: count,
    reasoningTokens: count,
    searches: count,
    estimated: flag,
  },
  ['inputTokens', 'outputTokens'],
);

/* @__NO_SIDE_EFFECTS__ */
/** Returns a reader for objects with fields of any name. The result is a frozen object of what `item` returns. */
export function mapOf<Item>(item: Reader<Item>, what = 'an object'): Reader<Readonly<Record<string, Item>>> {
  return (value) => {
    if (!isObject(value)) throw invalid(value, `Use ${what}`);
    const fields: [string, Item][] = [];
    const outer = path;
    for (const name of Object.keys(value)) {
      path = `${outer}.${name}`;
      const given = fieldOf(value, name);
      if (given !== undefined) fields.push([name, item(given, value)]);
    }
    path = outer;
    return Object.freeze(Object.fromEntries(fields));
  };
}

/** The readers of the arguments of functions, by the names of the arguments, in their order. */
type ArgumentReaders<Functions> = {
  readonly [Name in keyof Functions]?: Readonly<Record<string, Reader<unknown>>>;
};

/**
 * Makes these functions of an object read their arguments first. An async function rejects if one is invalid.
 * @param isAsync false if the functions are synchronous.
 */
export function withArguments<Functions extends object>(
  functions: Functions,
  readers: ArgumentReaders<Functions>,
  isAsync = true,
): Functions {
  return withArgumentErrors('withArguments', () => {
    for (const [name, table] of Object.entries<Readonly<Record<string, Reader<unknown>>>>(Object(readers))) {
      const original: (...given: unknown[]) => unknown = callable(Reflect.get(functions, name), functions);
      const entries = Object.entries(table);
      const reading = (...given: unknown[]) =>
        original(...entries.map(([argument, reader], at) => read(given[at], reader, argument)));
      Reflect.set(
        functions,
        name,
        isAsync ? async (...given: unknown[]) => await reading(...given) : reading,
      );
    }
    return functions;
  });
}

const isFine = (item: string | object): boolean => typeof item === 'string' || isOwned(item);

/** Reads plain data: returns a frozen copy. Data that `owned` knows is returned unchanged. */
export function data<Value>(value: unknown): Value {
  try {
    return plainCopy(value, isFine) as Value;
  } catch (thrown) {
    if (thrown instanceof NotPlain)
      throw invalid(thrown.value, 'Use plain JSON data, at most 128 levels deep', thrown.message);
    throw unreadable(value);
  }
}
