import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, visibleText } from '@cobbler/agent/events';
import { seededRandom } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import type { Channel } from '../../src/channel/channel.ts';
import { memoryChannel } from '../../src/channel/memory-channel.ts';
import { piecesOf } from '../../src/telegram/pieces.ts';
import { approvalQuestion } from '../../src/turn/approval.ts';

/** Channels, by name, that differ in how they divide a text into messages. */
export const channels: readonly (readonly [string, Pick<Channel, 'pieces'>])[] = [
  ['Telegram', { pieces: piecesOf }],
  ['a channel without a limit', memoryChannel()],
  ['a channel with short messages', memoryChannel({ longest: 1000 })],
];

const random = seededRandom(10);
const contents: Readonly<Record<string, (size: number) => string>> = {
  lines: (size) => 'const a = *b*; // `c` _d_\n'.repeat(size / 26 + 1).slice(0, size),
  'one line': (size) => '-abc <b>&amp;'.repeat(size / 13 + 1).slice(0, size),
  'binary data': (size) =>
    Array.from({ length: size }, () => String.fromCharCode(random.between(0, 255)))
      .join('')
      .replaceAll(/[ \t]/g, 'x'),
  'wide characters': (size) => '🧵日'.repeat(size / 3 + 1).slice(0, size),
};

export function request(content: string, rest: Partial<ApprovalRequestedEvent> = {}): ApprovalRequestedEvent {
  return {
    type: 'approval_requested',
    approvalId: 'a-1',
    callId: 'c',
    turn: 1,
    index: 0,
    toolName: 'write_file',
    arguments: { path: 'a.txt', content, mode: 420 },
    hash: 'h',
    subject: 'a.txt',
    ...rest,
  };
}

/** Removes decoration around the lines of a text: bars, fences, line and message breaks. */
const bare = (text: string) => text.replace(/(^|\n)`{3,}(?=\n|$)/g, '').replace(/\n(?: {2}\| ?)?/g, '');

/** Defines a test for each kind of content: the question shows all of a call, or offers no Allow. */
export function testQuestions(channel: Pick<Channel, 'pieces'>, sizes: readonly number[]): void {
  test.each(Object.keys(contents))('shows every byte of %s, or offers no Allow button', (kind) => {
    for (const size of sizes) {
      for (const rest of [{}, { diff: `@@ -1 +1 @@\n-a\n+${'b'.repeat(size)}\n` }]) {
        const content = contents[kind]?.(size) ?? '';
        const asked = request(content, rest);
        const { parts: pieces, buttons = [], file, denyButtons } = approvalQuestion(channel, asked);
        const offers = buttons.map(({ data }) => data);
        expect(denyButtons.map(({ data }) => data)).toEqual(['deny:a-1']);
        if (!offers.includes('allow:a-1')) {
          expect([offers, file?.text]).toEqual([[], approvalText(asked)]);
          continue;
        }
        const seen = bare(pieces.map(({ text }) => text).join('\n'));
        expect(pieces.length).toBeLessThanOrEqual(3);
        for (const value of [content, 'a.txt', 'mode: 420', ...Object.values(rest)])
          expect(seen.includes(bare(visibleText(value.trimEnd()))), `${kind} of ${size}`).toBe(true);
      }
    }
  });
}
