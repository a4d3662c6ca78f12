/** Removes characters that control a terminal or are invisible from a server's text. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** Returns the beginning of a text, up to a number of characters. */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;
}
