// Prints the TypeScript types of the event format from its zod schemas, so that the format has one
// definition and code that handles events does not need zod.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { eventBodySchema } from '../../src/events/schema.ts';
import { typeNames } from '../../src/events/value-schema.ts';

interface Node {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly description?: string;
  /** Accepted in stored events, but never written: gets no type. */
  readonly deprecated?: boolean;
}

/** Types written by hand, because they belong to the language and not to the event format. */
const byHand = { Json: './json.ts' };
const isOfEvents = /Event$|^EventBody$|^RunStatus$|^BlobReference$/;
const width = 124;
const notice =
  '// Generated from events/schema.ts by `npm run generate -- events`. Change the schema, not this file.\n';

/** Returns the two generated files by path within packages/agent/src. */
export function eventTypes(): Record<string, string> {
  const schema = z.toJSONSchema(eventBodySchema, {
    metadata: typeNames,
    override: ({ zodSchema, jsonSchema }) => {
      const { description, deprecated } = z.globalRegistry.get(zodSchema) ?? {};
      if (description) jsonSchema.description = description;
      if (deprecated) jsonSchema.deprecated = deprecated;
    },
  }) as Node;
  const names = Object.keys(schema.$defs ?? {}).filter((name) => !name.startsWith('__') && !(name in byHand));
  const printed = (chosen: readonly string[]) =>
    chosen.map((name) => declaration(name, schema.$defs?.[name] ?? {})).join('\n');
  const [events, values] = [
    names.filter((name) => isOfEvents.test(name)),
    names.filter((name) => !isOfEvents.test(name)),
  ];
  const used = values.filter((name) => new RegExp(`\\b${name}\\b`).test(printed(events)));
  return {
    'values/stored-values.ts': `${notice}import type { Json } from './json.ts';\n\n${printed(values)}`,
    'events/stored-events.ts': `${notice}import type { ${used.sort().join(', ')} } from '../values/stored-values.ts';\n\n${printed(events)}`,
  };
}

function declaration(name: string, node: Node): string {
  const docs = comment(node.description, '');
  if (node.properties === undefined) return `${docs}export type ${name} = ${typeOf(node)};\n`;
  const fields = Object.entries(node.properties).map(([field, type]) => {
    const mark = node.required?.includes(field) ? '' : '?';
    return `${comment(type.$ref === undefined || type.description ? type.description : undefined, '  ')}  readonly ${field}${mark}: ${typeOf(type)};\n`;
  });
  return `${docs}export interface ${name} {\n${fields.join('')}}\n`;
}

function typeOf(node: Node): string {
  const { $ref, oneOf, anyOf } = node;
  if ($ref !== undefined) return $ref.replace('#/$defs/', '');
  if (node.const !== undefined) return literal(node.const);
  if (node.enum !== undefined) return node.enum.map(literal).join(' | ');
  const branches = (oneOf ?? anyOf)?.filter(({ deprecated }) => deprecated !== true);
  if (branches !== undefined) return branches.map(typeOf).join(' | ');
  if (node.type === 'array' && node.items !== undefined) return `readonly ${typeOf(node.items)}[]`;
  if (node.type === 'integer') return 'number';
  if (node.type === 'object' && isDeepStrictEqual(node.properties ?? {}, {}))
    return 'Record<string, unknown>';
  if (node.type === 'string' || node.type === 'number' || node.type === 'boolean') return node.type;
  throw new Error(`The event schema has a part that no type is printed for: ${JSON.stringify(node)}`);
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

function comment(text: string | undefined, indent: string): string {
  if (!text) return '';
  if (!text.includes('\n') && indent.length + text.length + 7 <= width) return `${indent}/** ${text} */\n`;
  const lines = text.split('\n').flatMap((paragraph) => wrapped(paragraph, width - indent.length - 3));
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function wrapped(text: string, most: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
