import { isObject } from '../../src/values/json.ts';

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** The differences between two schemas of events. */
export interface SchemaChange {
  /** Changes that older readers can ignore: optional fields and new event types. */
  readonly added: readonly string[];
  /** Changes that break readers of new or old logs, each with its place and the reason. */
  readonly broken: readonly string[];
}

/** Keywords that do not affect validation. */
const silent: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'title',
  'description',
  'examples',
  'deprecated',
  '$defs',
]);

/**
 * Compares two JSON Schemas of events by the rule of docs/events.md. Between two releases of one
 * format, only optional fields and event types can be added; any other change is broken.
 */
export function schemaChange(before: Schema, after: Schema): SchemaChange {
  const added: string[] = [];
  const broken: string[] = [];
  const events = [branchesOf(before), branchesOf(after)] as const;
  for (const [type, schema] of events[0]) {
    const now = events[1].get(type);
    if (now === undefined) broken.push(`${type}: the event type was removed; existing logs contain it`);
    else new Comparison(before, after, added, broken).compare(type, schema, now);
  }
  for (const type of events[1].keys()) if (!events[0].has(type)) added.push(`${type}: a new event type`);
  return { added, broken };
}

/** Returns the schemas of the event types, by type. */
function branchesOf(schema: Schema): Map<string, Schema> {
  const branches = schema['oneOf'] ?? schema['anyOf'];
  const all = Array.isArray(branches) ? branches.filter(isObject) : [];
  return new Map(all.map((branch) => [tagOf(branch), branch]));
}

/** Returns the value that identifies a branch of a union. */
function tagOf(branch: Schema): string {
  const { type, role } = isObject(branch['properties']) ? branch['properties'] : {};
  for (const field of [type, role]) if (isObject(field) && 'const' in field) return String(field['const']);
  return JSON.stringify(branch);
}

/** Comparison of one event type before and after. */
class Comparison {
  readonly #before: Schema;
  readonly #after: Schema;
  readonly #added: string[];
  readonly #broken: string[];
  /** References that are being compared, because a schema can refer to itself. */
  readonly #open = new Set<string>();

  constructor(before: Schema, after: Schema, added: string[], broken: string[]) {
    this.#before = before;
    this.#after = after;
    this.#added = added;
    this.#broken = broken;
  }

  compare(at: string, before: unknown, after: unknown): void {
    if (!isObject(before) || !isObject(after)) return this.#same(at, before, after);
    const pair = `${String(before['$ref'])} ${String(after['$ref'])}`;
    if (before['$ref'] !== undefined || after['$ref'] !== undefined) {
      if (this.#open.has(pair)) return;
      this.#open.add(pair);
      this.compare(at, resolved(before, this.#before), resolved(after, this.#after));
      this.#open.delete(pair);
      return;
    }
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (!silent.has(key)) this.#keyword(at, key, before, after);
    }
  }

  #keyword(at: string, key: string, before: Schema, after: Schema): void {
    switch (key) {
      case 'properties':
        return this.#properties(at, before, after);
      case 'required':
        return this.#required(at, before, after);
      case 'enum':
        return this.#values(at, listOf(before[key]), listOf(after[key]));
      case 'oneOf':
      case 'anyOf':
        return this.#branches(at, before, after);
      case 'items':
      case 'additionalProperties':
      case 'propertyNames':
        return this.compare(`${at}[]`, before[key], after[key]);
      default:
        return this.#same(`${at}: ${key}`, before[key], after[key]);
    }
  }

  #properties(at: string, before: Schema, after: Schema): void {
    const [old, now] = [fieldsOf(before), fieldsOf(after)];
    for (const [name, schema] of Object.entries(old)) {
      if (name in now) this.compare(`${at}.${name}`, schema, now[name]);
      else
        this.#broken.push(
          `${at}.${name}: the field was removed; old logs contain it, and its data would be lost`,
        );
    }
    for (const name of Object.keys(now)) {
      if (!(name in old) && !listOf(after['required']).includes(name))
        this.#added.push(`${at}.${name}: a new optional field`);
    }
  }

  #required(at: string, before: Schema, after: Schema): void {
    const [old, now] = [listOf(before['required']), listOf(after['required'])];
    for (const name of now)
      if (!old.includes(name))
        this.#broken.push(`${at}.${String(name)}: is now required; old logs do not contain it`);
    for (const name of old)
      if (!now.includes(name) && String(name) in fieldsOf(after))
        this.#broken.push(`${at}.${String(name)}: is now optional; older readers reject events without it`);
  }

  #values(at: string, old: readonly unknown[], now: readonly unknown[]): void {
    for (const value of old)
      if (!now.includes(value))
        this.#broken.push(`${at}: no longer accepts ${JSON.stringify(value)}; old logs contain it`);
    for (const value of now)
      if (!old.includes(value))
        this.#broken.push(`${at}: now accepts ${JSON.stringify(value)}; older readers reject it`);
  }

  #branches(at: string, before: Schema, after: Schema): void {
    const [old, now] = [branchesOf(before), branchesOf(after)];
    for (const [tag, schema] of old) {
      const other = now.get(tag);
      if (other === undefined) this.#broken.push(`${at}: no longer accepts ${tag}; old logs contain it`);
      else this.compare(`${at}(${tag})`, schema, other);
    }
    for (const tag of now.keys())
      if (!old.has(tag)) this.#broken.push(`${at}: now accepts ${tag}; older readers reject it`);
  }

  #same(at: string, before: unknown, after: unknown): void {
    const [old, now] = [JSON.stringify(before), JSON.stringify(after)];
    if (old !== now) this.#broken.push(`${at}: was ${old ?? 'absent'} and is ${now ?? 'absent'}`);
  }
}

function resolved(part: Schema, whole: Schema): unknown {
  const reference = part['$ref'];
  if (typeof reference !== 'string') return part;
  const definitions = whole['$defs'];
  return isObject(definitions) ? definitions[reference.replace('#/$defs/', '')] : undefined;
}

function fieldsOf(schema: Schema): Schema {
  return isObject(schema['properties']) ? schema['properties'] : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
