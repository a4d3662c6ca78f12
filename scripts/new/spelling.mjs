// A name in all the ways in which it is written, and the names that nothing can have.
import { Refusal } from '../child.mjs';

/** The name in the templates: of two words, so that each way of writing it is told from the others. */
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
 * A text or a path of a template, with the name in the place of the placeholder.
 * @param {string} text
 * @param {string} name
 */
export function renamed(text, name) {
  const to = spellings(name);
  return spellings(placeholder).reduce((done, from, at) => done.replaceAll(from, to[at] ?? ''), text);
}

/**
 * @param {string} name
 * @param {string[]} forbidden words that name nothing
 */
export function checkName(name, forbidden) {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40)
    throw new Refusal(
      `${JSON.stringify(name)} is no name for it: up to 40 of a-z, 0-9 and - between words, a letter first.`,
    );
  if (name === placeholder)
    throw new Refusal(`${name} is the name in the templates. Take the name of your service.`);
  const word = name.split('-').find((one) => forbidden.includes(one));
  if (word !== undefined)
    throw new Refusal(`"${word}" says nothing. Name it after the service or after what it does.`);
  const [, identifier = ''] = spellings(name);
  try {
    new Function(`'use strict'; const ${identifier} = 0;`);
  } catch {
    throw new Refusal(`"${identifier}" is a word of the language. Take another name, or one of two words.`);
  }
}
