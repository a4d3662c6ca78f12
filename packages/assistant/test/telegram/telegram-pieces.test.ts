import { describe, expect, it } from 'vitest';
import { maxPartLength, piecesOf } from '../../src/telegram/index.ts';
import { readHtml } from '../../src/testing/index.ts';
import { testParts } from './random-markdown.ts';

const html = (markdown: string) =>
  piecesOf(markdown)
    .map(({ text, markup }) => markup ?? text)
    .join('\n<cut>\n');

describe('conversion of markdown to Telegram HTML', () => {
  it.each([
    [
      'bold, italic and strikethrough',
      '**b** _i_ ~~s~~ ***bi***',
      '<b>b</b> <i>i</i> <s>s</s> <b><i>bi</i></b>',
    ],
    ['inline code', '`a < b`', '<code>a &lt; b</code>'],
    ['code inside bold text becomes only code', '**a `b` c**', '<b>a </b><code>b</code><b> c</b>'],
    [
      'a code block with a language',
      '```ts\na < "b"\n```',
      '<pre><code class="language-ts">a &lt; &quot;b&quot;</code></pre>',
    ],
    ['a code block without a language', '```\na\n```', '<pre>a</pre>'],
    ['a code block with an invalid language', '```"><b>\na\n```', '<pre>a</pre>'],
    [
      'a link',
      '[a & b](https://x.example/?a=1&b="2")',
      '<a href="https://x.example/?a=1&amp;b=&quot;2&quot;">a &amp; b</a>',
    ],
    ['a link that is not a web address', '[a](javascript:x)', 'a (javascript:x)'],
    ['an image', '![a](https://x.example/p.png)', '<a href="https://x.example/p.png">a</a>'],
    ['a heading', '# A *b*', '<b>A </b><b><i>b</i></b>'],
    ['a quote that contains a quote', '> a\n>> b\n\nc', '<blockquote>a\n\nb</blockquote>\n\nc'],
    ['a nested list', '- a\n  - b\n- c', '• a\n   • b\n• c'],
    ['a numbered list', '3. a\n4. b', '3. a\n4. b'],
    ['a list with checkboxes', '- [ ] a\n- [x] b', '☐ a\n☑ b'],
    ['a table', '| a | b |\n|-|-|\n| 世界 | **2** |', '<pre>a    | b\n-----+--\n世界 | 2</pre>'],
    [
      'HTML as text',
      '**x**\n\n<b>a</b>\n\n<script>x</script>',
      '<b>x</b>\n\n&lt;b&gt;a&lt;/b&gt;\n\n&lt;script&gt;x&lt;/script&gt;',
    ],
    ['character references', '&amp; &lt; &#65; &nosuch; *i*', '&amp; &lt; A &amp;nosuch; <i>i</i>'],
    ['a thematic break', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  ])('%s', (_name, markdown, expected) => {
    // Two adjacent tags of one kind are equivalent to one tag.
    expect(html(markdown).replaceAll('</b><b>', '')).toBe(expected.replaceAll('</b><b>', ''));
  });

  it('control and text direction characters are removed, lone surrogates are replaced', () => {
    expect(piecesOf('a\u0000b\u001b[31m\u202ec\ud800')).toEqual([{ text: 'ab[31mc\ufffd' }]);
  });

  it('plain text has no markup', () => {
    expect(piecesOf('Just words.')).toEqual([{ text: 'Just words.' }]);
  });
});

describe('long text is split', () => {
  const line = (length: number) => 'x'.repeat(length);

  it('between paragraphs rather than lines', () => {
    const pieces = piecesOf(`${line(1500)}\n${line(500)}\n\n${line(1500)}\n${line(1500)}`);
    expect(pieces.map(({ text }) => text.length)).toEqual([2001, 3001]);
  });

  it('between lines rather than words', () => {
    const pieces = piecesOf(`${line(2000)} ${line(100)}\n${line(1500)} ${line(1000)}`);
    expect(pieces.map(({ text }) => text.length)).toEqual([2101, 2501]);
  });

  it('after 3994 units if there is no better place, which leaves room for a note of 100', () => {
    expect(maxPartLength).toBe(4096 - 100 - '\n\n'.length);
    expect(piecesOf(line(3994)).map(({ text }) => text.length)).toEqual([3994]);
    expect(piecesOf(line(3995)).map(({ text }) => text.length)).toEqual([3994, 1]);
  });

  it('before a code block that would otherwise be split', () => {
    const [first, second] = piecesOf(`${line(1000)}\n\n\`\`\`\n${`${line(99)}\n`.repeat(35)}\`\`\``);
    expect(first?.text).toBe(line(1000));
    expect(second?.markup).toMatch(/^<pre>x.*x<\/pre>$/s);
  });

  it('never inside a code block that fits, even at the only blank line', () => {
    const code = `${line(1500)}\n\n  ${line(500)}`;
    const pieces = piecesOf(`- a\n\n  \`\`\`\n  ${code}\n  \`\`\`\n- ${'word '.repeat(700)}`);
    expect(pieces.length).toBe(2);
    expect(pieces[0]?.markup).toMatch(/<pre>x{1500}\n\nx{500}<\/pre>/);
    expect(pieces[1]?.markup).toBeUndefined();
  });

  it('between lines of a code block that is too long, and each part is a code block', () => {
    const pieces = piecesOf(`\`\`\`py\n${`  ${line(97)}\n`.repeat(100)}\`\`\``);
    expect(pieces.length).toBe(3);
    for (const { text, markup } of pieces) {
      expect(markup).toMatch(/^<pre><code class="language-py"> {2}x.*x<\/code><\/pre>$/s);
      expect(text.split('\n').every((row) => row.length === 99)).toBe(true);
    }
  });

  it('with bold, links and quotes opened again in the next part', () => {
    const [first, second] = piecesOf(`> **[${'word '.repeat(1000).trim()}](https://a.example/)**`);
    for (const piece of [first, second]) {
      const { entities } = readHtml(piece?.markup ?? '');
      expect(entities.map(({ type }) => type).toSorted()).toEqual(['blockquote', 'bold', 'text_link']);
      expect(entities.every(({ length }) => length === piece?.text.length)).toBe(true);
    }
  });

  it('even if it is nested thousands of levels deep', () => {
    const pieces = piecesOf(`${'>'.repeat(20_000)} deep`);
    expect(pieces.length).toBeGreaterThan(0);
    expect(pieces.at(-1)?.text.endsWith('deep')).toBe(true);
  });
});

describe('random markdown', () => {
  // telegram-pieces.slow.test.ts sends more.
  testParts(30);
});
