import type { Key } from '../../terminal/io.ts';

/** The name of a key that does not stand for a character. */
export type KeyName =
  | 'enter'
  | 'newline'
  | 'tab'
  | 'back_tab'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word_left'
  | 'word_right'
  | 'delete_word'
  | 'delete_to_start'
  | 'delete_to_end'
  | 'escape'
  | 'interrupt'
  | 'end_of_input'
  | 'suspend'
  | 'redraw'
  | 'search'
  | 'expand'
  | 'paste_image'
  | 'focus'
  | 'blur'
  | 'other';

/** A key press in a chat. */
export type ChatKey = { readonly type: 'text' | 'paste'; readonly text: string } | { readonly type: KeyName };

/** Converts a key to the keys that an approval accepts. */
export function plainKeys(key: ChatKey): Key[] {
  if (key.type === 'text' || key.type === 'paste')
    return Array.from(key.text, (text) => ({ type: 'text', text }));
  if (key.type === 'enter' || key.type === 'backspace' || key.type === 'escape') return [{ type: key.type }];
  return [{ type: 'other' }];
}
