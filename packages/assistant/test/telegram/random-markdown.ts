import { systemRuntime } from '@cobbler/agent';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { maxMessageLength, telegramChannel } from '../../src/telegram/index.ts';
import { fakeTelegram } from '../../src/testing/index.ts';

const token = '123456:pieces-Token';

const fragment = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    ...[
      '**',
      '*',
      '_',
      '~~',
      '`',
      '```',
      '```js\n',
      '\n',
      '\n\n',
      '> ',
      '- ',
      '1. ',
      '# ',
      '|a|b|\n|-|-|\n|',
      '[',
    ],
    ...[
      '](https://a.example/?"<>)',
      '](x)',
      '<b>',
      '</b>',
      '<',
      '>',
      '&',
      '&amp;',
      '&#0;',
      '&#x1F600;',
      '    ',
      '\\',
      '---\n',
    ],
    ...['\ud83d', '\ude00', '👩‍👩‍👧', '\u202e', '\u0000', '\u200b', '$', '!['],
  ),
  fc
    .constantFrom('word ', 'x', '世', '👍🏽', '`a` ', '**b** ', '<i> ')
    .chain((unit) => fc.integer({ min: 1, max: 500 }).map((count) => unit.repeat(count))),
);
/** Random texts of markdown, HTML and characters that are hard to cut. */
export const markdowns: fc.Arbitrary<string> = fc
  .array(fragment, { maxLength: 15 })
  .map((parts) => parts.join(''));

/** Defines the test of this number of texts. */
export function testParts(texts: number): void {
  it(`results in parts that a strict Bot API accepts, for ${texts} texts`, async () => {
    const telegram = fakeTelegram({ token });
    telegram.say(1, 'hello');
    const channel = telegramChannel({ token, runtime: { ...systemRuntime, fetch: telegram.fetch } });
    await fc.assert(
      fc.asyncProperty(markdowns, async (markdown) => {
        for (const piece of channel.pieces(markdown)) {
          const before = telegram.calls.length;
          await channel.send('1', piece);
          // A second call would be the plain text retry after refused markup.
          expect(telegram.calls.length - before).toBe(1);
          const [call] = telegram.calls.slice(-1);
          const seen = telegram.messages(1).at(-1)?.text ?? '';
          expect(call?.outcome).toBe('done');
          expect(seen).toBe(piece.text);
          expect(seen.length).toBeLessThanOrEqual(maxMessageLength);
        }
      }),
      { numRuns: texts, seed: 7 },
    );
  }, 120_000);
}
