const begin = '<!-- Written by npm run bench -- --write; changes are lost. -->';
const end = '<!-- End of what is written. -->';

/**
 * Returns a page with the text between its two marks replaced.
 * @throws Error if the marks are missing.
 */
export function withBlock(page: string, block: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`The page has no marks for the table: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${block}\n\n${page.slice(to)}`;
}
