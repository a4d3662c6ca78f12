// Converts a name to all its spellings and rejects names that are not allowed.
import { Refusal } from '../child.mjs';

/** The name in the templates: two words, so that each spelling can be distinguished from the others. */
const placeholder = 'your-own';

/** @param {string} name in kebab case */
function spellings(name) {
  const words = name.split('-');
  const capital = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const [first = '', ...rest] = words;
  return [
    name,
    [first, ...capital.slice(1)].join(''),
    capital.join(''),
    capital.join(' '),
    words.join('_'),
    [first, ...rest].join('_').toUpperCase(),
  ];
}

/**
 * Returns text or a path of a template with the name in place of the placeholder.
 * @param {string} text
 * @param {string} name
 */
export function renamed(text, name) {
  const to = spellings(name);
  return spellings(placeholder).reduce((done, from, at) => done.replaceAll(from, to[at] ?? ''), text);
}

/**
 * @param {string} name
 * @param {string[]} forbidden words too vague for a name
 */
export function checkName(name, forbidden) {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40)
    throw new Refusal(
      `${JSON.stringify(name)} is not a valid name. Use up to 40 of a-z, 0-9 and - between words, starting with a letter.`,
    );
  if (name === placeholder)
    throw new Refusal(`${name} is the placeholder of the templates. Use the name of your service.`);
  const word = name.split('-').find((one) => forbidden.includes(one));
  if (word !== undefined)
    throw new Refusal(
      `"${word}" does not describe anything. Use the name of the service or of what it does.`,
    );
  const [, identifier = ''] = spellings(name);
  try {
    new Function(`'use strict'; const ${identifier} = 0;`);
  } catch {
    throw new Refusal(`"${identifier}" is a reserved word. Use another name, or one of two words.`);
  }
}
