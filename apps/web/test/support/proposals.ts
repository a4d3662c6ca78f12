import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { visibleText } from '@cobbler/agent/events';
import { seededRandom } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { readDiff } from '../../src/app/session/diff.ts';
import { proposalOf } from '../../src/app/transcript/proposal.ts';

const random = seededRandom(10);

const contents: Readonly<Record<string, (size: number) => string>> = {
  lines: (size) => 'const a = b;\n'.repeat(size / 13 + 1).slice(0, size),
  'one line': (size) => '-abc <b>'.repeat(size / 8 + 1).slice(0, size),
  'binary data': (size) =>
    Array.from({ length: size }, () => String.fromCharCode(random.between(0, 255)))
      .join('')
      .replaceAll(/[ \t]/g, 'x'),
  'invisible characters': (size) => 'a\u202e\u200b\u2800 b'.repeat(size / 6 + 1).slice(0, size),
};

/** Diffs that a tool may return for a content: none, one of other content, or a complete one. */
const diffs: Readonly<Record<string, (content: string) => { diff?: string }>> = {
  'no diff': () => ({}),
  'a truncated diff': () => ({ diff: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n' }),
  'a complete diff': (content) => {
    const lines = content.replace(/\n$/, '').split('\n');
    const head = ['--- /dev/null', '+++ a.txt', `@@ -0,0 +1,${lines.length} @@`];
    return { diff: [...head, ...lines.map((line) => `+${line}`), ''].join('\n') };
  },
};

export function request(
  given: Record<string, unknown>,
  rest: Partial<ApprovalRequestedEvent>,
): ApprovalRequestedEvent {
  return {
    type: 'approval_requested',
    approvalId: '1',
    callId: '1',
    turn: 1,
    index: 0,
    toolName: 'write_file',
    arguments: given,
    hash: 'h',
    ...rest,
  };
}

/** Returns what the page draws of a proposal, without gutters and line breaks. */
function drawn(asked: ApprovalRequestedEvent): string {
  const { diff = '', command = '', text } = proposalOf(asked);
  // The page does not draw more lines of a file at first.
  const lines = readDiff(diff).flatMap((file) => file.lines.slice(0, 400).map((line) => line.text));
  return bare([...lines, command, text.replaceAll(/^(?: {2}\| ?|\+)/gm, '')].join('\n'));
}

const bare = (text: string) => text.replaceAll('\n', '');

const shownAs = (text: string, name: string) =>
  bare(visibleText(text.trimEnd(), name === 'command' ? 'name' : undefined));

const cases = Object.keys(contents).flatMap((kind) =>
  Object.keys(diffs).flatMap((which) => ['content', 'command'].map((name) => [kind, which, name] as const)),
);

/** Defines a test for each kind of content, diff and argument: the page shows all of a call, or offers no Allow. */
export function testProposals(sizes: readonly number[]): void {
  test.each(cases)('shows every byte of %s with %s as %s, or offers no Allow', (kind, which, name) => {
    for (const size of sizes) {
      const content = contents[kind]?.(size) ?? '';
      const asked = request({ path: 'a.txt', [name]: content, mode: 420 }, diffs[which]?.(content) ?? {});
      if (!proposalOf(asked).isWhole) {
        expect(size).toBeGreaterThan(20_100);
        continue;
      }
      const seen = drawn(asked);
      for (const value of [content, 'a.txt', 'mode: 420'])
        expect(seen.includes(shownAs(value, name)), `${size} of ${kind}`).toBe(true);
    }
  });
}
