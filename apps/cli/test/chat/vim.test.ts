import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { decodeKeys, heldKeys } from '../../src/chat/input/key-decoder.ts';
import type { EditorState } from '../../src/chat/input/line-editor.ts';
import { edit } from '../../src/chat/input/line-editor.ts';
import { VimKeys } from '../../src/chat/input/vim.ts';
import { chatStage } from './chat-stage.ts';

/** Presses keys, with `<` for Esc, in a text whose cursor is at the `|`. Returns the text with the cursor, and the mode. */
function pressed(before: string, keys: string): string {
  const vim: { mode: string } & Pick<VimKeys, 'key'> = new VimKeys();
  const cursor = before.indexOf('|');
  let state: EditorState = { text: before.replace('|', ''), cursor };
  vim.mode = 'normal';
  for (const letter of keys) {
    const { held, keys: some } = decodeKeys('', letter === '<' ? '\x1b' : letter);
    for (const key of [...some, ...heldKeys(held).keys]) {
      const next = vim.key(state, key);
      state = 'type' in next ? edit(state, next) : next;
    }
  }
  const shown = `${state.text.slice(0, state.cursor)}|${state.text.slice(state.cursor)}`;
  return vim.mode === 'insert' ? `${shown} -- INSERT` : shown;
}

describe('the Vim keys', () => {
  test.each([
    ['one |two', 'h', 'one| two'],
    ['|one', 'h', '|one'],
    ['o|ne', 'll', 'on|e'],
    ['ab\nc|d\nef', 'j', 'ab\ncd\ne|f'],
    ['ab\nc|d\nef', 'k', 'a|b\ncd\nef'],
    ['|one, two', 'w', 'one|, two'],
    ['|one, two', 'ww', 'one, |two'],
    ['one, tw|o', 'b', 'one, |two'],
    ['one, |two', 'bb', '|one, two'],
    ['|one two', 'e', 'on|e two'],
    ['on|e two', 'e', 'one tw|o'],
    ['  one t|wo', '0', '|  one two'],
    ['  one t|wo', '^', '  |one two'],
    ['|one two\nx', '$', 'one tw|o\nx'],
    ['a\nb|c', 'gg', '|a\nbc'],
    ['|a\nbc', 'G', 'a\n|bc'],
    ['|one two', 'ft', 'one |two'],
    ['|one two', 'tt', 'one| two'],
    ['one tw|o', 'Fn', 'o|ne two'],
    ['one tw|o', 'Tn', 'on|e two'],
    ['|one two', 'fz', '|one two'],
    ['|日本語', 'll', '日本|語'],
  ])('move from %j with %s to %j', (before, keys, after) => {
    expect(pressed(before, keys)).toBe(after);
  });

  test.each([
    ['one |two three', 'dw', 'one |three'],
    ['one two |three', 'dw', 'one two| '],
    ['one |two three', 'de', 'one | three'],
    ['one |two three', 'db', '|two three'],
    ['one |two three', 'd$', 'one| '],
    ['one |two three', 'D', 'one| '],
    ['one |two three', 'd0', '|two three'],
    ['one |two three', 'dfr', 'one |ee'],
    ['one |two three', 'dth', 'one |hree'],
    ['a\n|b\nc', 'dd', 'a\n|c'],
    ['a\nb\n|c', 'dd', 'a\n|b'],
    ['|a', 'dd', '|'],
    ['a\n|b\nc\nd', 'dj', 'a\n|d'],
    ['a\nb\n|c\nd', 'dgg', '|d'],
    ['one |two three', 'cw', 'one | three -- INSERT'],
    ['one |two three', 'cwx<', 'one |x three'],
    ['one |two three', 'C', 'one | -- INSERT'],
    ['a\n|bc\nd', 'ccx<', 'a\n|x\nd'],
    ['|abc', 'x', '|bc'],
    ['ab|c', 'x', 'a|b'],
    ['|abc', 'xp', 'b|ac'],
    ['one |two', 'ywP', 'one tw|otwo'],
    ['a\n|b\nc', 'yyp', 'a\nb\n|b\nc'],
    ['a\n|b\nc', 'ddP', 'a\n|b\nc'],
    ['|abc', 'rx', '|xbc'],
    ['|abc', 'ix<', '|xabc'],
    ['|abc', 'ax<', 'a|xbc'],
    ['  a|bc', 'Ix<', '  |xabc'],
    ['|abc', 'Ax<', 'abc|x'],
    ['a|b\nc', 'ox<', 'ab\n|x\nc'],
    ['a|b\nc', 'Ox<', '|x\nab\nc'],
    ['|abc', 'xxu', '|bc'],
    ['|abc', 'xxuu', '|abc'],
    ['|abc', 'ione<u', '|abc'],
    ['|abc', 'u', '|abc'],
    ['|abc', 'd<x', '|bc'],
    ['|abc', 'zdzgz', '|abc'],
    ['one |two', '<<<', 'one |two'],
  ])('change %j with %s to %j', (before, keys, after) => {
    expect(pressed(before, keys)).toBe(after);
  });

  test('read letters that arrive together like single ones', () => {
    const vim = new VimKeys();
    vim.mode = 'normal';
    expect(vim.key({ text: 'one two', cursor: 0 }, { type: 'text', text: 'wcwnew words' })).toEqual({
      text: 'one new words',
      cursor: 13,
    });
  });
});

test('/vim turns them on, the status line shows the mode, and Enter sends from both modes', async () => {
  const agent = scriptedAgent(['First.', 'Second.']);
  const stage = await chatStage({ agent });
  stage.type('/vim', '\r');
  await stage.until(/Vim keys on[^\n]*\nfor this chat; to keep it: cobbler config set vim true$/m);
  stage.type('hello world');
  expect(stage.foot(2)).toMatch(/› hello world\n {2}insert mode · /);
  stage.type('\x1b');
  stage.io.clock.advance(100);
  expect(stage.foot(1)).toContain('normal mode');
  stage.type('bcw', 'there', '\r');
  await stage.until('First.');
  expect(stage.foot(1)).toContain('insert mode');
  stage.type('again\x1b');
  stage.io.clock.advance(100);
  stage.type('k', '\r');
  await stage.until('Second.');
  const prompts = agent.requests[1]?.messages.filter(({ role }) => role === 'user');
  expect(prompts?.map(({ content }) => content)).toEqual([
    [{ type: 'text', text: 'hello there' }],
    [{ type: 'text', text: 'hello there' }],
  ]);
  stage.type('/vim', '\r');
  await stage.until(/Vim keys off\nfor this chat; to keep it: cobbler config set vim false$/m);
  expect(stage.foot(1)).not.toContain('insert mode');
});
