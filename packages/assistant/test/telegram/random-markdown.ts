import { systemRuntime } from '@cobbler/agent';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { maxMessageLength, piecesOf, telegramChannel } from '../../src/telegram/index.ts';
import { fakeTelegram, readHtml } from '../../src/testing/index.ts';

const token = '123456:pieces-Token';

const fragment = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.array(fc.nat(0x10ffff), { maxLength: 60 }).map((codes) => String.fromCodePoint(...codes)),
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
const markdowns: fc.Arbitrary<string> = fc.array(fragment, { maxLength: 15 }).map((parts) => parts.join(''));

/** Defines the tests of random texts. A strict Bot API receives this number of them. */
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

  it('results in no nested entities that Telegram does not allow', () => {
    fc.assert(
      fc.property(markdowns, (markdown) => {
        for (const { markup = '' } of piecesOf(markdown)) {
          const { entities } = readHtml(markup);
          for (const alone of entities.filter(
            ({ type }) => type === 'code' || type === 'pre' || type === 'blockquote',
          )) {
            const within = entities.filter(
              (other) =>
                other !== alone &&
                other.offset < alone.offset + alone.length &&
                alone.offset < other.offset + other.length,
            );
            const allowed = alone.type === 'blockquote' ? /^(?!blockquote)/ : /^blockquote$/;
            expect(within.every(({ type }) => allowed.test(type))).toBe(true);
          }
        }
      }),
      { numRuns: texts, seed: 11 },
    );
  }, 120_000);

  it('always results in the same parts for the same text', () => {
    fc.assert(
      fc.property(markdowns, (markdown) => {
        expect(piecesOf(markdown)).toEqual(piecesOf(markdown));
      }),
      { numRuns: texts, seed: 13 },
    );
  }, 120_000);
}
