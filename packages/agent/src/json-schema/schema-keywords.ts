import type { JsonError } from 'json-schema-library';
import { notOneOf, problem } from './simple-schema.ts';

const maxCharacters = 500;

/** What is wrong with the arguments, in words for the model, as the simple check says it. */
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
      return problem(path, 'must not hold the same item twice');
    case 'any-of-error':
    case 'one-of-error':
      return problem(path, 'fits none of the allowed forms');
    case 'multiple-one-of-error':
      return problem(path, 'fits more than one form');
    case 'not-error':
      return problem(path, 'has a form that is not allowed');
    case 'ref-error':
      return problem(
        '',
        `cannot be checked: the schema of the tool refers to ${text('ref')}, which is not there`,
      );
    default:
      return problem(path, boundWords(String(code), schema) ?? 'is not allowed');
  }
}

/** Of keywords that bound a number or a size. */
function boundWords(code: string, bound: (name: string) => string): string | undefined {
  const words: Readonly<Record<string, () => string>> = {
    'minimum-error': () => `must be at least ${bound('minimum')}`,
    'maximum-error': () => `must be at most ${bound('maximum')}`,
    'exclusive-minimum-error': () => `must be more than ${bound('exclusiveMinimum')}`,
    'exclusive-maximum-error': () => `must be less than ${bound('exclusiveMaximum')}`,
    'multiple-of-error': () => `must be a multiple of ${bound('multipleOf')}`,
    'min-length-error': () => `must have at least ${bound('minLength')} characters`,
    'min-length-one-error': () => 'must have at least 1 characters',
    'max-length-error': () => `must have at most ${bound('maxLength')} characters`,
    'min-items-error': () => `must have at least ${bound('minItems')} items`,
    'min-items-one-error': () => 'must have at least 1 items',
    'max-items-error': () => `must have at most ${bound('maxItems')} items`,
    'min-properties-error': () => `must have at least ${bound('minProperties')} properties`,
    'max-properties-error': () => `must have at most ${bound('maxProperties')} properties`,
    'contains-any-error': () => `must hold an item that fits ${bound('contains')}`,
    'contains-error': () => `must hold an item that fits ${bound('contains')}`,
    'contains-min-error': () => `must hold more items that fit ${bound('contains')}`,
    'contains-max-error': () => `must hold fewer items that fit ${bound('contains')}`,
  };
  return words[code]?.();
}

function cut(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
