/** Maximum depth and maximum number of values of data. No real data reaches them. */
const maxDepth = 128;
const maxValues = 1_000_000;

/** A value that is not plain data. The message is its path. */
export class NotPlain extends Error {
  readonly value: unknown;

  constructor(path: string, value: unknown) {
    super(path);
    this.value = value;
  }
}

/**
 * Returns a frozen copy of plain data. Fields that are undefined are left out, as in JSON. Texts and objects for which
 * `isFine` returns true are returned unchanged.
 * @throws NotPlain for another text, for anything else that JSON would lose or change, and for data that is too large.
 */
export function plainCopy(value: unknown, isFine: (item: string | object) => boolean): unknown {
  let left = maxValues;
  const plain = (item: unknown, path: string, depth: number): unknown => {
    left -= 1;
    if (item === null || typeof item === 'boolean') return item;
    // JSON has no negative zero.
    if (typeof item === 'number' && Number.isFinite(item)) return item + 0;
    const isText = typeof item === 'string';
    if ((isText || typeof item === 'object') && isFine(item)) return item;
    if (isText || typeof item !== 'object' || left < 0 || depth > maxDepth) throw new NotPlain(path, item);
    if (!Array.isArray(item)) {
      if (!isPlain(item)) throw new NotPlain(path, item);
      const fields = Object.entries(item).filter(([, field]) => field !== undefined);
      return Object.freeze(
        Object.fromEntries(fields.map(([name, field]) => [name, plain(field, `${path}.${name}`, depth + 1)])),
      );
    }
    const items: unknown[] = [];
    // By index, so that the first hole of a sparse array ends it.
    for (let at = 0; at < item.length; at += 1) items.push(plain(item[at], `${path}[${at}]`, depth + 1));
    return Object.freeze(items);
  };
  return plain(value, '', 0);
}

/** Returns whether an object is plain and has no `toJSON` method. Objects from other realms count as plain. */
function isPlain(item: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(item);
  return !('toJSON' in item) && (prototype === null || Object.getPrototypeOf(prototype) === null);
}
