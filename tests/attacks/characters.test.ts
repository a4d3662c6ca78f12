import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText } from '@cobbler/agent/events';
import { describe, expect, test } from 'vitest';
import { approvalContent, permissionOptions } from '../../apps/cli/src/acp/approval.ts';
import { callFacts } from '../../apps/cli/src/acp/tool-view.ts';
import { oneLine } from '../../apps/cli/src/terminal/one-line.ts';
import { styleFor } from '../../apps/cli/src/terminal/style.ts';
import { ApprovalDialog } from '../../apps/cli/src/view/approval-dialog.ts';
import { proposalOf } from '../../apps/web/src/app/transcript/proposal.ts';
import { approvalQuestion } from '../../packages/assistant/src/turn/approval.ts';
import { plainText } from '../../packages/tools/src/mcp/plain-text.ts';

/** Characters that hide something, or pretend to be another one. */
const kinds: Readonly<Record<string, string>> = {
  'an escape sequence': '\x1b',
  'a backspace': '\b',
  'a carriage return': '\r',
  'a C1 control': '\x9b',
  'a soft hyphen': '\u00ad',
  'a zero-width space': '\u200b',
  'a zero-width joiner': '\u200d',
  'a word joiner': '\u2060',
  'a byte order mark': '\ufeff',
  'a right-to-left override': '\u202e',
  'an isolate': '\u2066',
  'an Arabic letter mark': '\u061c',
  'a line separator': '\u2028',
  'a no-break space': '\u00a0',
  'an em space': '\u2003',
  'a Hangul filler': '\u3164',
  'a Braille blank': '\u2800',
  'a tag character': '\u{e0041}',
  'a variation selector': '\ufe0f',
  'a private-use character': '\ue000',
  'an unassigned code point': '\u{e0fff}',
  'a Cyrillic letter': '\u0430',
  'a Greek letter': '\u03bf',
  'a mathematical letter': '\u{1d42b}',
  'a full-width letter': '\uff41',
};

function request(text: string): ApprovalRequestedEvent {
  return {
    ...{ type: 'approval_requested', approvalId: 'a', callId: 'c', turn: 1, index: 0, hash: 'h' },
    ...{ toolName: `r${text}m`, subject: `x${text}y`, summary: `in p${text}q` },
    arguments: { command: `x${text}y`, content: `one${text}two\n`, [`k${text}l`]: [`v${text}w`] },
    diff: `--- a\n+++ a\n@@ -1 +1 @@\n-old\n+one${text}two\n`,
  };
}

/** What a person sees of a call, in each place that can offer to allow it. */
const faces: Readonly<Record<string, (asked: ApprovalRequestedEvent) => string>> = {
  terminal(asked) {
    const shown: string[] = [];
    const dialog = new ApprovalDialog({
      style: styleFor({ color: false, unicode: true, tty: true }),
      columns: () => 200,
      folder: '~',
      show: (lines) => void shown.push(...lines),
      answer: () => undefined,
      allowAlways: () => undefined,
      offers: () => [`run_command(${asked.subject})`],
      onChange: () => undefined,
    });
    dialog.ask(asked);
    return [...shown, ...dialog.footer()].join('\n');
  },
  page(asked) {
    const { command = '', diff = '', text } = proposalOf(asked);
    return [command, diff, text].join('\n');
  },
  'page, without a diff'(asked) {
    const { diff: _, ...rest } = asked;
    const { command = '', text } = proposalOf(rest);
    return [command, text].join('\n');
  },
  editor(asked) {
    const { title, name } = callFacts(asked, { folder: '/w', tools: [] });
    const options = permissionOptions([`${asked.toolName}(${asked.subject})`], true).map(
      (option) => option.name,
    );
    return JSON.stringify([title, name, options, approvalContent(asked, '/w', 's').content]);
  },
  Telegram(asked) {
    const pieces = (text: string) => [{ text }];
    return approvalQuestion({ pieces }, asked)
      .parts.map(({ text }) => text)
      .join('\n');
  },
  'API and cobbler approve': approvalText,
  'a title in the terminal': ({ subject = '' }) => oneLine(subject),
  'the description of an MCP tool': ({ subject = '' }) => plainText(subject),
};

const rows = Object.keys(faces).flatMap((face) => Object.keys(kinds).map((kind) => [kind, face] as const));

describe('a character hides what is approved', () => {
  test.each(rows)('%s in: %s', (kind, face) => {
    const character = kinds[kind] ?? '';
    const asked = request(character);
    // Without the defence, a face prints the values as they are.
    expect(Object.values(asked.arguments).join('\n')).toContain(character);
    expect(faces[face]?.(asked)).not.toContain(character);
  });
});

describe('a call is allowed where a part of it is not shown', () => {
  const long = { ...request(''), arguments: { content: `start\n${'x\n'.repeat(100_000)}rm -rf /` } };
  const { diff: _, ...withoutDiff } = long;

  test('terminal: y does nothing before the last line', () => {
    const shown: string[] = [];
    const answers: string[] = [];
    const dialog = new ApprovalDialog({
      style: styleFor({ color: false, unicode: true, tty: true }),
      columns: () => 80,
      folder: '~',
      show: (lines) => void shown.push(...lines),
      answer: (_id, { decision }) => void answers.push(decision),
      allowAlways: () => answers.push('always'),
      offers: () => ['write_file(a)'],
      onChange: () => undefined,
    });
    dialog.ask({ ...withoutDiff, arguments: { content: `${'x\n'.repeat(2500)}rm -rf /` } });
    const seen = () => shown.join('\n').includes('rm -rf /');
    for (let presses = 0; !seen() && presses < 5; presses += 1) {
      for (const text of ['y', 'a', 'Y', ' ', '\r']) dialog.key({ type: 'text', text });
      expect(answers).toEqual([]);
      dialog.key({ type: 'text', text: 'd' });
    }
    dialog.key({ type: 'text', text: 'y' });
    expect([seen(), answers]).toEqual([true, ['allow']]);
  });

  test.each<[string, () => boolean]>([
    ['page', () => proposalOf(withoutDiff).isWhole],
    ['editor', () => approvalContent(withoutDiff, '/w', 's').isWhole],
    [
      'editor: options',
      () => permissionOptions(['x(y)'], false).some(({ kind }) => kind.startsWith('allow')),
    ],
    ['chat', () => approvalQuestion({ pieces: (text) => [{ text }] }, withoutDiff).buttons !== undefined],
    [
      'chat that cuts',
      () => approvalQuestion({ pieces: () => [{ text: 'cut' }] }, request('')).buttons !== undefined,
    ],
  ])('%s', (_face, isOffered) => {
    expect(isOffered()).toBe(false);
  });
});
