/** One line of a unified diff. */
export interface ChangeLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap' | 'note';
  readonly text: string;
  /** Its number before the change. */
  readonly before?: number;
  /** Its number after the change. */
  readonly after?: number;
}

/** The changes of one file in a diff. */
export interface FileDiff {
  readonly path: string;
  readonly lines: readonly ChangeLine[];
  readonly added: number;
  readonly removed: number;
}

/** Parses a unified diff of one or more files. Lines that cannot be parsed are shown unchanged. */
export function readDiff(text: string): FileDiff[] {
  const files: { path: string; lines: ChangeLine[] }[] = [];
  let [before, after, from] = [0, 0, ''];
  // Number of lines that the hunk still has on either side: within it, `--- ` is a removed line.
  let [leftBefore, leftAfter] = [0, 0];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const inHunk = leftBefore > 0 || leftAfter > 0;
    if (!inHunk && /^(diff |index |={3,}$|Index: )/.test(line)) continue;
    if (!inHunk && line.startsWith('--- ')) {
      from = nameIn(line);
      continue;
    }
    if (!inHunk && line.startsWith('+++ ')) {
      const to = nameIn(line);
      files.push({ path: to === '/dev/null' ? from : to, lines: [] });
      continue;
    }
    const lines = (files.at(-1) ?? begin(files)).lines;
    const hunk = inHunk ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (hunk !== null) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [leftBefore, leftAfter] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      if (lines.length > 0) lines.push({ kind: 'gap', text: hunk[5] ?? '' });
    } else if (inHunk && line.startsWith('+')) {
      lines.push({ kind: 'added', text: line.slice(1), after: after++ });
      leftAfter -= 1;
    } else if (inHunk && line.startsWith('-')) {
      lines.push({ kind: 'removed', text: line.slice(1), before: before++ });
      leftBefore -= 1;
    } else if (inHunk && (line.startsWith(' ') || line === '')) {
      lines.push({ kind: 'same', text: line.slice(1), before: before++, after: after++ });
      [leftBefore, leftAfter] = [leftBefore - 1, leftAfter - 1];
    } else lines.push({ kind: 'note', text: line });
  }
  return files.map((file) => ({
    ...file,
    added: file.lines.filter(({ kind }) => kind === 'added').length,
    removed: file.lines.filter(({ kind }) => kind === 'removed').length,
  }));
}

function begin(files: { path: string; lines: ChangeLine[] }[]): { lines: ChangeLine[] } {
  const file = { path: '', lines: [] };
  files.push(file);
  return file;
}

function nameIn(line: string): string {
  const name = line.slice(4).replace(/\t.*$/, '');
  return /^[ab]\//.test(name) ? name.slice(2) : name;
}
