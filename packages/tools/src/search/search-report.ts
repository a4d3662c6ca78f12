import type { ToolOutput } from '@cobbler/agent';
import { toolOutput } from '@cobbler/agent';
import { quotePath } from '@cobbler/agent/node';
import { counted, sizeOf } from '../workspace/file-bytes.ts';
import type { LineMatches, ShownLine } from './line-matcher.ts';

const maxCharacters = 100_000;

/** The matches found so far. The numbers of shown matches and characters are limited. */
export class SearchReport {
  readonly #maxMatches: number;
  readonly #blocks: string[] = [];
  #characters = 0;
  #shown = 0;
  #matches = 0;
  #filesWithMatch = 0;
  #files = 0;
  #tooLarge = 0;
  #end: { readonly why: string; readonly isError: boolean } | undefined;

  constructor(maxMatches: number) {
    this.#maxMatches = maxMatches;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Counts a searched file and adds as many of its matches as fit. */
  add(name: string, { count, lines }: LineMatches): void {
    this.#files += 1;
    if (count === 0) return;
    this.#matches += count;
    this.#filesWithMatch += 1;
    const shown = this.#fitting(lines);
    const matches = matchesIn(shown);
    if (matches === 0) return;
    const block = blockOf(name, shown);
    this.#blocks.push(block);
    this.#characters += block.length;
    this.#shown += matches;
  }

  /** Counts a file that is too large to search. */
  skip(): void {
    this.#tooLarge += 1;
  }

  /** Sets why the search ends before all files are searched. Only the first reason counts. */
  end(why: string, isError: boolean): void {
    this.#end ??= { why, isError };
  }

  output(
    pattern: string,
    options: { readonly includesIgnored: boolean; readonly maxFileBytes: number },
  ): ToolOutput {
    const lines: string[] = [];
    if (this.#matches === 0) {
      const where = counted(this.#files, 'text file');
      const hint = options.includesIgnored ? '' : ' (files that git ignores were omitted)';
      lines.push(`No match for ${JSON.stringify(pattern)} in ${where}${hint}.`);
    }
    const left = this.#matches - this.#shown;
    if (left > 0)
      lines.push(`[${counted(left, 'more match', 'more matches')} not shown. Use a narrower search.]`);
    if (this.#tooLarge > 0) {
      lines.push(`[${counted(this.#tooLarge, 'file')} over ${sizeOf(options.maxFileBytes)} not searched]`);
    }
    if (this.#end !== undefined) lines.push(`[stopped early: ${this.#end.why}]`);
    const found = `${counted(this.#matches, 'match', 'matches')} in ${counted(this.#filesWithMatch, 'file')}`;
    return toolOutput({
      content: [...this.#blocks, ...lines].join('\n'),
      summary: this.#matches === 0 ? 'no match' : found,
      ...(this.#end?.isError === true && { isError: true }),
    });
  }

  #fitting(lines: readonly ShownLine[]): readonly ShownLine[] {
    let matches = this.#shown;
    let characters = this.#characters;
    const end = lines.findIndex(([, isMatch, text]) => {
      if (isMatch) matches += 1;
      characters += text.length;
      return matches > this.#maxMatches || characters > maxCharacters;
    });
    return end < 0 ? lines : lines.slice(0, end);
  }
}

function matchesIn(lines: readonly ShownLine[]): number {
  return lines.filter(([, isMatch]) => isMatch).length;
}

/** Formats a file and its lines: `12: match`, `13- around`, `--` where lines are omitted. */
function blockOf(name: string, lines: readonly ShownLine[]): string {
  const hasContext = matchesIn(lines) < lines.length;
  let before = 0;
  let block = `${/[\n\r]/.test(name) ? quotePath(name) : name}\n`;
  for (const [line, isMatch, text] of lines) {
    if (hasContext && before > 0 && line > before + 1) block += '--\n';
    block += `${line}${isMatch ? ':' : '-'} ${text}\n`;
    before = line;
  }
  return block;
}
