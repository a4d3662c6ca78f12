/** Signs that take two columns where letters have one width. */
const wide =
  /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;
/** Signs that take none. */
const narrow = /\p{M}|\u200d/u;

/** Estimated columns of a text, without knowing its font. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text) columns += narrow.test(sign) ? 0 : wide.test(sign) ? 2 : 1;
  return columns;
}

/** Rows in columns one below the other, a line under the first row. Readable in letters of one width. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell));
  }
  const line = (cells: readonly string[]) =>
    widths
      .map((width, index) => padded(cells[index] ?? '', width))
      .join(' | ')
      .trimEnd();
  const [head, ...body] = rows;
  if (head === undefined) return '';
  const rule = widths.map((width) => '-'.repeat(Math.max(width, 1))).join('-+-');
  return [line(head), rule, ...body.map(line)].join('\n');
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(width - columnsOf(cell), 0));
}
