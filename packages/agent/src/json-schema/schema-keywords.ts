import type { JsonError } from 'json-schema-library';
import { clip } from '../values/json.ts';
import { limitText, notOneOf, problem, typeText } from './simple-schema.ts';

const maxCharacters = 500;

/** Returns the problem with the arguments, for the model, in the same words as the simple check. */
export function wordsFor({ code, data }: JsonError): string {
  const path = data.pointer.replace(/^#\/?/, '').replaceAll('/', '.');
  const inside = (name: string) => (path === '' ? String(data[name]) : `${path}.${String(data[name])}`);
  switch (code) {
    case 'required-property-error':
      return problem(inside('key'), 'is missing');
    case 'missing-dependency-error':
      return problem(inside('missingProperty'), 'is missing');
    case 'invalid-property-name-error':
      return problem(inside('property'), 'has a name that is not allowed');
    case 'ref-error':
      return problem(
        '',
        `cannot be validated: the schema of the tool refers to ${shown(data['ref'])}, which does not exist`,
      );
    default:
      return problem(path, textFor(String(code), data));
  }
}

/** Returns the text for an error about the value at its own path; undefined if there is nothing to add. */
function textFor(code: string, data: JsonError['data']): string | undefined {
  const schema = (name: string) => shown(data.schema[name]);
  switch (code) {
    case 'type-error':
      return typeText([data.schema['type']].flat(), String(data['received']));
    case 'no-additional-properties-error':
    case 'unevaluated-property-error':
      return 'is not a known argument';
    case 'enum-error':
      return notOneOf(Array.isArray(data['values']) ? data['values'] : []);
    case 'const-error':
      return `must be ${schema('const')}`;
    case 'invalid-data-error':
      return data.schema['items'] === false ? 'has too many items' : undefined;
    case 'pattern-error':
      return `must match ${clip(String(data['pattern']), maxCharacters)}`;
    case 'unique-items-error':
      return 'must not contain duplicate items';
    case 'any-of-error':
    case 'one-of-error':
      return 'must match one of the allowed forms';
    case 'multiple-one-of-error':
      return 'must match only one of the allowed forms';
    case 'not-error':
      return 'must not match the excluded schema';
    case 'multiple-of-error':
      return `must be a multiple of ${schema('multipleOf')}`;
    case 'contains-any-error':
    case 'contains-error':
      return `must contain an item that matches ${schema('contains')}`;
    case 'contains-min-error':
      return `must contain more items that match ${schema('contains')}`;
    case 'contains-max-error':
      return `must contain fewer items that match ${schema('contains')}`;
    default: {
      // The other codes are the names of keywords: `min-length-error`.
      const keyword = code.replace(/-error$/, '').replace(/-\w/g, (letter) => letter.slice(1).toUpperCase());
      return limitText(keyword, schema(keyword));
    }
  }
}

function shown(value: unknown): string {
  return clip(JSON.stringify(value) ?? '', maxCharacters);
}
