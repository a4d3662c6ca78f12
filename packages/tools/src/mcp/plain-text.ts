/** Text of a server without characters that steer a terminal or hide in it. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** The beginning of a text, in characters. */
export function capped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
