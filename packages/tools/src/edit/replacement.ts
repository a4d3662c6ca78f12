import { counted } from '../workspace/file-bytes.ts';
import { closestPassage } from './closest-passage.ts';

/** A replacement of one passage. */
export interface ReplacementArgs {
  /** The passage, exactly as in the file. */
  readonly old_text: string;
  /** The replacement text. */
  readonly new_text: string;
  /** True to replace every occurrence. */
  readonly replace_all?: boolean;
}

/** The new text, or the error message for the model. */
export type Replacement =
  | { readonly ok: true; readonly text: string; readonly count: number }
  | { readonly ok: false; readonly problem: string };

/** Maximum number of lines listed in an error. */
const maxPlaces = 10;

/**
 * Replaces a passage that occurs exactly once, or every occurrence with `replace_all`. In a file with Windows line
 * breaks, both texts can use UNIX ones; the file keeps its own.
 */
export function replacePassage(text: string, args: ReplacementArgs): Replacement {
  const { old_text: given, new_text: replacing, replace_all: all } = args;
  if (given === '') {
    return failure('old_text is empty. Pass the text to replace; to write a whole file, use write_file.');
  }
  const lineBreak = defaultLineBreak(text);
  const converted = toLineBreak(given, lineBreak);
  // In a file with mixed line breaks, the passage may exist exactly as given.
  const old = text.includes(converted) ? converted : given;
  const fresh = old === converted ? toLineBreak(replacing, lineBreak) : replacing;
  if (old === fresh) return failure('old_text and new_text are identical: nothing would change.');
  const places = placesOf(text, old, all === true);
  if (places.length === 0) return failure(notFound(text, given));
  if (places.length > 1 && all !== true) return failure(notUnique(text, places));
  return { ok: true, text: text.split(old).join(fresh), count: places.length };
}

function failure(problem: string): Replacement {
  return { ok: false, problem };
}

/** Returns the line break of most lines. */
function defaultLineBreak(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1;
  const windows = text.split('\r\n').length - 1;
  return windows * 2 > all ? '\r\n' : '\n';
}

function toLineBreak(text: string, lineBreak: '\n' | '\r\n'): string {
  return lineBreak === '\n' ? text : text.replace(/\r?\n/g, '\r\n');
}

/** Returns the positions of a passage. Overlapping ones count if only one is allowed, because they are just as ambiguous. */
function placesOf(text: string, passage: string, all: boolean): number[] {
  const places: number[] = [];
  const step = all ? passage.length : 1;
  for (let at = text.indexOf(passage); at >= 0; at = text.indexOf(passage, at + step)) {
    places.push(at);
    if (!all && places.length > 1000) break;
  }
  return places;
}

function notUnique(text: string, places: readonly number[]): string {
  const named = [
    ...new Set(places.slice(0, maxPlaces).map((place) => text.slice(0, place).split('\n').length)),
  ];
  const count = places.length > 1000 ? 'more than 1,000 times' : `${counted(places.length, 'time')}`;
  const lines = `line${named.length === 1 ? '' : 's'} ${named.join(', ')}${places.length > maxPlaces ? ', …' : ''}`;
  return `old_text occurs ${count} (${lines}). Add surrounding lines to make it unique, or set replace_all.`;
}

function notFound(text: string, given: string): string {
  const closest = closestPassage(text, given);
  const advice = 'old_text must match exactly, including whitespace. ';
  if (closest === undefined)
    return `old_text was not found. ${advice}Read the file and copy the text from it.`;
  const { line, passage, onlySpace } = closest;
  const how = onlySpace ? 'It differs only in whitespace from' : 'The closest match is';
  return `old_text was not found. ${advice}${how} the text at line ${line}:\n${passage}`;
}
