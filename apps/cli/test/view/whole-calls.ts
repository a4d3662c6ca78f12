import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { visibleText } from '@cobbler/agent/events';
import { seededRandom } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { approvalContent, choiceOf, permissionOptions } from '../../src/acp/approval.ts';
import { styleFor } from '../../src/terminal/style.ts';
import { ApprovalDialog } from '../../src/view/approval-dialog.ts';

const style = styleFor({ color: false, unicode: true, tty: true });
const random = seededRandom(10);

const contents: Readonly<Record<string, (size: number) => string>> = {
  lines: (size) => 'const a = *b*; // `c` ````\n'.repeat(size / 27 + 1).slice(0, size),
  'one line': (size) => '-abc <b>'.repeat(size / 8 + 1).slice(0, size),
  'binary data': (size) =>
    // Excludes characters that could be part of a line's margin.
    Array.from({ length: size }, () => String.fromCharCode(random.between(0, 255)))
      .join('')
      .replaceAll(/[\s\d|+-]/g, 'x'),
  'invisible characters': (size) => 'a\u202e\u200b\u2800 b'.repeat(size / 6 + 1).slice(0, size),
};

export function request(content: string, rest: Partial<ApprovalRequestedEvent> = {}): ApprovalRequestedEvent {
  return {
    type: 'approval_requested',
    approvalId: '1',
    callId: '1',
    turn: 1,
    index: 0,
    toolName: 'write_file',
    arguments: { path: 'a.txt', content, mode: 420 },
    hash: 'h',
    subject: 'a.txt',
    ...rest,
  };
}

/** Diffs that a tool may provide: none, a shortened one, and a complete one. */
const diffs: Readonly<Record<string, (content: string) => Partial<ApprovalRequestedEvent>>> = {
  'no diff': () => ({}),
  'a truncated diff': () => ({ diff: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n' }),
  'a complete diff': (content) => {
    const lines = content.replace(/\n$/, '').split('\n');
    return {
      diff: [
        '--- /dev/null',
        '+++ a.txt',
        `@@ -0,0 +1,${lines.length} @@`,
        ...lines.map((l) => `+${l}`),
        '',
      ].join('\n'),
    };
  },
};

/** Removes all whitespace, because lines may be broken anywhere. */
const bare = (text: string) => text.replace(/\s/g, '');

/** Returns the displayed text without margins and line numbers. */
function unframed(lines: readonly string[], diff = ''): string {
  const digits = String(diff.split('\n').length - 4).length;
  const margin = new RegExp(`^ {6}(?: {2}\\| ?|[ \\d]{${digits}} [-+ ] )?`);
  return bare(lines.map((line) => line.replace(margin, '')).join('\n'));
}

const cases = Object.keys(contents).flatMap((kind) =>
  Object.keys(diffs).map((which) => [kind, which] as const),
);

/** A dialog with what it has shown and answered. */
interface Played {
  readonly dialog: ApprovalDialog;
  readonly shown: string[];
  readonly answers: string[];
  press(text: string): void;
}

export function dialogOf(): Played {
  const shown: string[] = [];
  const answers: string[] = [];
  const dialog = new ApprovalDialog({
    style,
    columns: () => 100,
    folder: '~/demo',
    show: (lines) => void shown.push(...lines),
    answer: (_id, answer) => void answers.push(answer.decision),
    allowAlways: () => void answers.push('always'),
    offers: () => ['write_file(a.txt)'],
    onChange: () => undefined,
  });
  return { dialog, shown, answers, press: (text: string) => dialog.key({ type: 'text', text }) };
}

/** Returns the sizes to test with a kind of diff. */
type Sizes = (which: string) => readonly number[];

/** Defines tests: the dialog shows all of a call before it accepts yes. */
export function testDialogs(sizes: Sizes): void {
  test.each(cases)('shows every byte of %s with %s before it accepts yes', (kind, which) => {
    for (const size of sizes(which)) {
      const content = contents[kind]?.(size) ?? '';
      const { dialog, shown, answers, press } = dialogOf();
      const asked = request(content, diffs[which]?.(content));
      dialog.ask(asked);
      for (let presses = 0; dialog.accepts('d'); presses += 1) {
        press('y');
        press('a');
        expect(answers).toEqual([]);
        // Removes the preview, because the first "d" shows everything from the beginning.
        if (presses === 0) shown.length = 1;
        else shown.pop();
        press('d');
      }
      const seen = unframed(shown, asked.diff);
      for (const value of [content, 'a.txt', '420'])
        expect(seen.includes(bare(visibleText(value))), `${size} of ${kind}`).toBe(true);
      press('y');
      expect(answers).toEqual(['allow']);
    }
  });
}

/** Defines tests: an editor receives all of a call, or no option that allows it. */
export function testEditors(sizes: Sizes): void {
  test.each(cases)('shows every byte of %s with %s, or offers only Deny', (kind, which) => {
    for (const size of sizes(which)) {
      const content = contents[kind]?.(size) ?? '';
      const asked = request(content, diffs[which]?.(content));
      const { content: given, isWhole } = approvalContent(asked, '/w', 's-1');
      const options = permissionOptions(['write_file(a.txt)'], isWhole);
      if (!isWhole) {
        expect(size).toBeGreaterThan(5_000);
        expect(options.map(({ kind: one }) => one)).toEqual(['reject_once']);
        expect(JSON.stringify(given)).toContain('cobbler sessions export s-1');
        const taken = choiceOf({ outcome: 'selected', optionId: 'allow' }, options);
        expect(taken).toEqual({ type: 'deny' });
        continue;
      }
      const seen = given
        .map((part) =>
          part.type === 'diff'
            ? part.newText
            : part.type === 'content' && part.content.type === 'text'
              ? part.content.text
              : '',
        )
        .join('\n');
      const unbarred = bare(seen.replaceAll(/^ {2}\| ?/gm, ''));
      for (const value of [content, 'a.txt', '420'])
        expect(unbarred.includes(bare(visibleText(value))), `${size} of ${kind}`).toBe(true);
    }
  });
}
