import type { Project } from '../house/source.mjs';

/** A markdown table; figures stand to the right. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const isFigure = head.map(
    (_, at) => body.length > 0 && body.every((row) => /^(\d+|none)$/.test(row[at] ?? '')),
  );
  const widths = head.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (isFigure[at] ? (row[at] ?? '').padStart(width) : (row[at] ?? '').padEnd(width))).join(' | ')} |`;
  const rule = widths.map((width, at) => (isFigure[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return `${[line(head), line(rule), ...body.map(line)].join('\n')}\n`;
}

/** What comes along when a published package is installed; what is optional in brackets. */
export function dependencyRows({ packages }: Project): string[][] {
  return packages
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ name, manifest }) => {
      const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
      const peers = Object.keys(peerDependencies).map((peer) =>
        peerDependenciesMeta[peer]?.optional === true ? `(${peer})` : peer,
      );
      return [name, [...Object.keys(dependencies), ...peers].join(', ') || 'none'];
    })
    .sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
}
