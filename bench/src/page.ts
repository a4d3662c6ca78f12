const begin = '<!-- Written by npm run bench -- --write; changes are lost. -->';
const end = '<!-- End of what is written. -->';

/**
 * A page with what stands between its two marks replaced.
 * @throws Error when it has no marks.
 */
export function withBlock(page: string, block: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`The page has no place for the table: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${block}\n\n${page.slice(to)}`;
}
