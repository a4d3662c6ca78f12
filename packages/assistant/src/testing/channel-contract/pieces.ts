import { seededRandom } from '@cobbler/agent/testing';
import type { MessagePart } from '../../channel/channel.ts';
import type { ChannelCase } from './case.ts';
import { expectSame, expectThat, group, lettersOf } from './case.ts';
import type { ChannelScene, ChannelSubject } from './stand.ts';

const the = group('pieces');

const words = [
  'one',
  'two **bold**',
  '`code`',
  'naïve',
  '世界',
  '👩‍👩‍👧',
  '<b>',
  '&amp;',
  'a_b_c',
  '*',
  '[x](https://a.example/?q="1")',
];

/** Returns a long reply with every kind of block, the same for the same seed. */
function longAnswer(seed: number, blocks: number): string {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random.next() * count);
  const sentence = () => Array.from({ length: 20 + pick(60) }, () => words[pick(words.length)]).join(' ');
  const kinds = [
    () => sentence(),
    () => `# ${words[pick(words.length)]}`,
    () => Array.from({ length: 5 }, () => `- ${sentence()}`).join('\n'),
    () => `\`\`\`ts\n${Array.from({ length: 30 }, () => 'const a = 1 < 2 && "x";').join('\n')}\n\`\`\``,
    () => `> ${sentence()}`,
    () => '| a | b |\n|---|---|\n| 1 | **2** |',
  ];
  return Array.from({ length: blocks }, () => kinds[pick(kinds.length)]?.() ?? '').join('\n\n');
}

function visibleOf(parts: readonly MessagePart[], subject: ChannelSubject): string {
  return parts
    .map(({ text, markup }) => (markup === undefined ? text : (subject.visible?.(markup) ?? text)))
    .join('');
}

const plainText = Array.from({ length: 4000 }, (_, index) => `word${index}`).join(' ');

/** A text without whitespace at which it could be split. */
const unbroken = '👩‍👩‍👧'.repeat(3000);

export const partCases: readonly ChannelCase[] = [
  the('splits the same text in the same way each time', async ({ channel }) => {
    for (let seed = 1; seed <= 10; seed += 1)
      expectSame(channel.pieces(longAnswer(seed, 30)), channel.pieces(longAnswer(seed, 30)), `seed ${seed}`);
  }),
  the('does not split a text that fits', async ({ channel }) => {
    expectSame(channel.pieces('Hello there.').length, 1, 'the number of parts');
    expectSame(channel.pieces('Hello there.')[0]?.text, 'Hello there.', 'its text');
  }),
  the('returns no parts for a blank text', async ({ channel }) => {
    expectSame(channel.pieces(''), [], 'the parts of an empty text');
    expectSame(channel.pieces(' \n\n\t '), [], 'the parts of whitespace');
  }),
  the('returns parts that fit in a message and are not blank', async ({ channel }, subject) => {
    for (let seed = 1; seed <= 10; seed += 1) {
      for (const part of channel.pieces(longAnswer(seed, 60))) {
        const visible = visibleOf([part], subject);
        expectThat(
          visible.length <= subject.longest,
          `at most ${subject.longest} code units, found ${visible.length}`,
        );
        expectThat(
          part.text.length <= subject.longest,
          `at most ${subject.longest} code units of plain text`,
        );
        expectThat(visible.trim() !== '' && part.text.trim() !== '', 'a text');
      }
    }
  }),
  the('preserves all of a long plain text, in order', async ({ channel }, subject) => {
    expectSame(lettersOf(visibleOf(channel.pieces(plainText), subject)), lettersOf(plainText), 'the text');
  }),
  the(
    'preserves all of a long formatted text: many parts show the same as one',
    async ({ channel }, subject) => {
      for (let seed = 1; seed <= 10; seed += 1) {
        const parts = Array.from({ length: 40 }, (_, part) => longAnswer(seed * 100 + part, 1));
        const apart = parts.flatMap((part) => channel.pieces(part));
        const together = channel.pieces(parts.join('\n\n---\n\n'));
        const rule = lettersOf(visibleOf(channel.pieces('---'), subject));
        const drop = (text: string) => lettersOf(text).replaceAll(rule, '');
        expectSame(drop(visibleOf(together, subject)), drop(visibleOf(apart, subject)), `seed ${seed}`);
      }
    },
  ),
  the('shows the same text in markup and in plain text', async ({ channel }, subject) => {
    for (const { text, markup } of channel.pieces(longAnswer(3, 60)))
      if (markup !== undefined)
        expectSame(lettersOf(subject.visible?.(markup) ?? ''), lettersOf(text), 'the text');
  }),
  the('splits at whitespace instead of inside words', async ({ channel }, subject) => {
    const whole = channel.pieces(plainText).flatMap((part) => visibleOf([part], subject).split(/\s+/));
    expectSame(whole.filter(Boolean), plainText.split(' '), 'the words');
  }),
  the('never splits a character', async ({ channel }) => {
    for (const { text, markup } of [...channel.pieces(unbroken), ...channel.pieces(`a${unbroken}`)])
      expectThat(text.isWellFormed() && (markup ?? '').isWellFormed(), 'whole characters');
    expectSame(
      channel
        .pieces(unbroken)
        .map(({ text }) => text)
        .join(''),
      unbroken,
      'the text',
    );
  }),
  the('accepts unpaired surrogates and control characters', async ({ channel, chatId, seen }) => {
    for (const part of channel.pieces('a\ud800b\u0000c\u001b[31m d\udc00')) await channel.send(chatId, part);
    expectThat(seen().length === 1, 'one message');
  }),
  the('returns parts that the channel accepts', async (fixture) => {
    await sendAll(fixture, longAnswer(7, 60));
    await sendAll(fixture, unbroken);
    await sendAll(fixture, `\`\`\`\n${plainText}\n\`\`\``);
  }),
];

async function sendAll({ channel, chatId, seen, sends }: ChannelScene, markdown: string): Promise<void> {
  const parts = channel.pieces(markdown);
  const [before, tries] = [seen().length, sends()];
  for (const part of parts) await channel.send(chatId, part);
  expectSame(seen().length - before, parts.length, 'the number of messages');
  expectSame(sends() - tries, parts.length, 'the number of sends');
}
