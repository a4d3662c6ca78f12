import type { JsonError } from 'json-schema-library';
import { counted, notOneOf, problem } from './simple-schema.ts';

const maxCharacters = 500;

/** Returns the problem with the arguments, for the model, in the same words as the simple check. */
export function wordsFor({ code, data }: JsonError): string {
  const path = data.pointer.replace(/^#\/?/, '').replaceAll('/', '.');
  const text = (name: string) => cut(JSON.stringify(data[name]) ?? '');
  const schema = (name: string) => cut(JSON.stringify(data.schema[name]) ?? '');
  const inside = (name: string) => (path === '' ? String(data[name]) : `${path}.${String(data[name])}`);
  switch (code) {
    case 'type-error':
      return problem(
        path,
        `must be ${[data.schema['type']].flat().join(' or ')}, not ${String(data['received'])}`,
      );
    case 'required-property-error':
      return problem(inside('key'), 'is missing');
    case 'missing-dependency-error':
      return problem(inside('missingProperty'), 'is missing');
    case 'no-additional-properties-error':
    case 'unevaluated-property-error':
      return problem(path, 'is not a known argument');
    case 'invalid-property-name-error':
      return problem(inside('property'), 'has a name that is not allowed');
    case 'enum-error':
      return problem(path, notOneOf(Array.isArray(data['values']) ? data['values'] : []));
    case 'const-error':
      return problem(path, `must be ${schema('const')}`);
    case 'invalid-data-error':
      return problem(path, data.schema['items'] === false ? 'has too many items' : 'is not allowed');
    case 'pattern-error':
      return problem(path, `must match ${cut(String(data['pattern']))}`);
    case 'unique-items-error':
      return problem(path, 'must not contain duplicate items');
    case 'any-of-error':
    case 'one-of-error':
      return problem(path, 'must match one of the allowed forms');
    case 'multiple-one-of-error':
      return problem(path, 'must match only one of the allowed forms');
    case 'not-error':
      return problem(path, 'must not match the excluded schema');
    case 'ref-error':
      return problem(
        '',
        `cannot be validated: the schema of the tool refers to ${text('ref')}, which does not exist`,
      );
    default:
      return problem(path, boundWords(String(code), schema) ?? 'is not allowed');
  }
}

/** Returns the text for keywords that limit a number or a size. */
function boundWords(code: string, bound: (name: string) => string): string | undefined {
  const words: Readonly<Record<string, () => string>> = {
    'minimum-error': () => `must be at least ${bound('minimum')}`,
    'maximum-error': () => `must be at most ${bound('maximum')}`,
    'exclusive-minimum-error': () => `must be more than ${bound('exclusiveMinimum')}`,
    'exclusive-maximum-error': () => `must be less than ${bound('exclusiveMaximum')}`,
    'multiple-of-error': () => `must be a multiple of ${bound('multipleOf')}`,
    'min-length-error': () => `must have at least ${counted(bound('minLength'), 'character')}`,
    'min-length-one-error': () => 'must have at least 1 character',
    'max-length-error': () => `must have at most ${counted(bound('maxLength'), 'character')}`,
    'min-items-error': () => `must have at least ${counted(bound('minItems'), 'item')}`,
    'min-items-one-error': () => 'must have at least 1 item',
    'max-items-error': () => `must have at most ${counted(bound('maxItems'), 'item')}`,
    'min-properties-error': () =>
      `must have at least ${counted(bound('minProperties'), 'property', 'properties')}`,
    'max-properties-error': () =>
      `must have at most ${counted(bound('maxProperties'), 'property', 'properties')}`,
    'contains-any-error': () => `must contain an item that matches ${bound('contains')}`,
    'contains-error': () => `must contain an item that matches ${bound('contains')}`,
    'contains-min-error': () => `must contain more items that match ${bound('contains')}`,
    'contains-max-error': () => `must contain fewer items that match ${bound('contains')}`,
  };
  return words[code]?.();
}

function cut(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
