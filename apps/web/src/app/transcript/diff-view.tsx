import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { counted } from '../parts/format.ts';
import { scrollArea } from '../parts/hooks.tsx';
import type { FileDiff } from '../session/diff.ts';
import { readDiff } from '../session/diff.ts';

/** Maximum number of diff lines per file to show without a request. */
export const maxDiffLines = 400;

/** A diff as text. */
export function DiffText({ text }: { readonly text: string }): VNode {
  const files = useMemo(() => readDiff(text), [text]);
  return (
    <>
      {files.map((file) => (
        <DiffView key={file.path} file={file} />
      ))}
    </>
  );
}

/** The changes of one file, line by line. */
export function DiffView({ file }: { readonly file: FileDiff }): VNode {
  const [all, set] = useState(false);
  const lines = all ? file.lines : file.lines.slice(0, maxDiffLines);
  const left = file.lines.length - lines.length;
  return (
    <section class="diff" aria-label={`Changes to ${file.path}`}>
      <div class="diff-head">
        <span class="path">{file.path}</span>
        <DiffCount added={file.added} removed={file.removed} />
      </div>
      <div class="diff-lines" {...scrollArea('Lines')}>
        <div class="diff-table">
          {lines.map((line, index) => (
            <div key={index} class={`diff-line ${line.kind}`}>
              <span class="number">{line.before ?? ''}</span>
              <span class="number">{line.after ?? ''}</span>
              <span class="sign">{signs[line.kind]}</span>
              <span class="code">{line.kind === 'gap' ? `⋯ ${line.text}` : line.text}</span>
            </div>
          ))}
        </div>
      </div>
      {left > 0 && (
        <button type="button" class="quiet" onClick={() => set(true)}>
          Show {counted(left, 'more line')}
        </button>
      )}
    </section>
  );
}

const signs = { same: '', added: '+', removed: '−', gap: '', note: '' } as const;

/** `+3 −1` */
export function DiffCount({ added, removed }: { readonly added: number; readonly removed: number }): VNode {
  return (
    <span class="diff-count">
      <span class="added">+{added}</span> <span class="removed">−{removed}</span>
    </span>
  );
}
