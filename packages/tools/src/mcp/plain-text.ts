import { visibleText } from '@cobbler/agent/events';

/** Makes control, invisible and look-alike characters of a server's text visible. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return visibleText(text.toWellFormed());
}

/** Returns the beginning of a text, up to a number of characters. */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;
}
