import type { CommandDefinition } from '@cobbler/agent/definitions';
import { defined } from '@cobbler/agent/values';
import { plural } from '../terminal/format.ts';
import type { ChatKey } from './input/key.ts';
import type { EditorState } from './input/line-editor.ts';
import { atEdge, brokenLine, edit, editorWith, emptyEditor } from './input/line-editor.ts';
import type { Menu, MenuItem } from './input/menu.ts';
import { moveIn } from './input/menu.ts';
import type { PromptHistory } from './input/prompt-history.ts';
import { findPrompt } from './input/prompt-history.ts';
import { droppedFiles, pathItems, typedPath } from './input/references.ts';
import { VimKeys } from './input/vim.ts';
import { commandItems } from './slash-commands.ts';

/** The visible state. */
export interface PrompterView {
  readonly editor: EditorState;
  readonly menu?: Menu;
  /** The history search text. */
  readonly search?: string;
  readonly question?: string;
  /** True while the text filters a list. */
  readonly isPicking: boolean;
}

/** A longer pasted text is shown as a label. */
const maxPastedLines = 10;
const maxPastedLength = 1000;

interface Search {
  readonly words: string;
  /** False if no earlier input contains the words. */
  readonly isFound: boolean;
  readonly at: number;
  readonly before: EditorState;
}

interface Picker {
  readonly title: string;
  readonly items: readonly MenuItem[];
  readonly onPick: (name: string) => void;
}

/** The input: a line editor with completion, history and menus. */
export class Prompter {
  readonly #history: PromptHistory;
  readonly #folder: string;
  readonly #commands: readonly CommandDefinition[] | undefined;
  #editor: EditorState = emptyEditor;
  #chosen = 0;
  #menuClosed = false;
  /** Position in the history; its length stands for the text that is typed now. */
  #at: number;
  #unsent: EditorState = emptyEditor;
  /** Long pasted texts by what stands for them in the input. */
  readonly #pastes = new Map<string, string>();
  /** A draft that was set aside to answer a question. */
  #aside: EditorState | undefined;
  #search: Search | undefined;
  #vim: VimKeys | undefined;
  #picker: Picker | undefined;
  #question: { readonly text: string; readonly onYes: () => void } | undefined;

  /** `folder` is the directory that paths are relative to, `commands` are offered after the built-in ones. */
  constructor(history: PromptHistory, folder: string, commands?: readonly CommandDefinition[]) {
    this.#history = history;
    this.#folder = folder;
    this.#commands = commands;
    this.#at = history.prompts.length;
  }

  get isEmpty(): boolean {
    return this.#editor.text === '';
  }

  /** True while keys belong to a list, a search or a question. */
  get isBusy(): boolean {
    return this.isAsking || this.#picker !== undefined || this.#search !== undefined;
  }

  /** True while a yes/no question is open. */
  get isAsking(): boolean {
    return this.#question !== undefined;
  }

  get view(): PrompterView {
    const { words = '', isFound } = this.#search ?? {};
    const search = isFound === false ? `${words} (no match)` : this.#search?.words;
    return {
      editor: this.#editor,
      isPicking: this.#picker !== undefined,
      ...defined({ menu: this.#menu(), search, question: this.#question?.text }),
    };
  }

  /** Clears the line and closes what is open. Returns false if there was nothing to clear or close. */
  clear(): boolean {
    const had = !this.isEmpty || this.isBusy;
    this.#picker = undefined;
    this.#search = undefined;
    this.#question = undefined;
    this.#set(emptyEditor);
    return had;
  }

  /** Sets the draft aside, or gives it back. Returns false if there is none, or if the key belongs to a menu. */
  swapDraft(): boolean {
    const aside = this.#aside;
    const next = this.isEmpty ? aside : emptyEditor;
    if (next === undefined || this.#search !== undefined || this.#menu() !== undefined) return false;
    const both = aside === undefined ? this.#editor : editorWith(`${aside.text}\n${this.#editor.text}`);
    this.#aside = this.isEmpty ? undefined : both;
    this.#set(next);
    return true;
  }

  /** Gives back a draft that was set aside, unless something else is typed. */
  giveBack(): void {
    if (this.#aside !== undefined && this.isEmpty) this.swapDraft();
  }

  /** True if a draft was set aside. */
  get hasAside(): boolean {
    return this.#aside !== undefined;
  }

  /** Lets the user choose an item. The one with the name `current` is marked first. */
  pick(title: string, items: readonly MenuItem[], onPick: (name: string) => void, current?: string): void {
    this.#picker = { title, items, onPick };
    this.#set(emptyEditor);
    this.#chosen = Math.max(
      0,
      items.findIndex(({ name }) => name === current),
    );
  }

  /** Puts a text into the empty input. */
  draft(text: string): void {
    if (this.isEmpty) this.#set(editorWith(text));
    this.#menuClosed = true;
  }

  ask(text: string, onYes: () => void): void {
    this.#question = { text, onYes };
  }

  /** Processes a key. Returns the text if the key sent it. */
  key(key: ChatKey): string | undefined {
    if (this.#answers(key)) return undefined;
    if (this.#search !== undefined) return this.#searching(this.#search, key);
    if (this.#inMenu(key)) return undefined;
    const next = this.#picker === undefined ? (this.#vim?.key(this.#editor, key) ?? key) : key;
    if ('type' in next) return this.#edit(next);
    this.#change(next);
    return undefined;
  }

  /** Turns the Vim keys on or off. Returns whether they are on. */
  switchVim(): boolean {
    this.#vim = this.#vim === undefined ? new VimKeys() : undefined;
    return this.#vim !== undefined;
  }

  /** The mode of the Vim keys in words; empty without them. */
  get mode(): string {
    return this.#vim === undefined ? '' : `${this.#vim.mode} mode`;
  }

  /** True if a key sets the draft aside at a question. */
  isSwap({ type }: ChatKey): boolean {
    return type === 'tab' || (type === 'escape' && this.#vim?.mode !== 'insert');
  }

  /** Adds what stands for a file, which Backspace removes as a whole. */
  label(label: string): void {
    const { text, cursor } = this.#editor;
    const before = /(^|\s)$/.test(text.slice(0, cursor)) ? '' : ' ';
    this.#pastes.set(label, label);
    this.#change(edit(this.#editor, { type: 'paste', text: `${before}${label} ` }));
  }

  #edit(key: ChatKey): string | undefined {
    switch (key.type) {
      case 'enter':
        return this.#enter();
      case 'search':
        this.#search = { words: '', at: this.#history.prompts.length, before: this.#editor, isFound: true };
        return undefined;
      case 'up':
      case 'down':
        if (atEdge(this.#editor, key.type)) this.#inHistory(key.type);
        else this.#editor = edit(this.#editor, key);
        return undefined;
      case 'paste':
        this.#paste(key.text);
        return undefined;
      case 'backspace':
        this.#change(this.#withoutPaste() ?? edit(this.#editor, key));
        return undefined;
      default:
        this.#change(edit(this.#editor, key));
        return undefined;
    }
  }

  /** Inserts a text, or a label for a long one. A label becomes its text when that is pasted again. */
  #paste(text: string): void {
    const { text: typed } = this.#editor;
    const again = [...this.#pastes].find(([label, whole]) => whole === text && typed.includes(label));
    if (again !== undefined) return this.#change(editorWith(typed.replace(again[0], () => text)));
    const files = this.#picker === undefined ? droppedFiles(text, this.#folder) : undefined;
    if (files !== undefined) return files.forEach((file) => void this.label(file));
    const lines = text.trimEnd().split('\n').length;
    const isLong = this.#picker === undefined && (lines > maxPastedLines || text.length > maxPastedLength);
    if (!isLong) return this.#change(edit(this.#editor, { type: 'paste', text }));
    const size = lines > 1 ? plural(lines, 'line') : plural(text.length, 'character');
    let label = `[pasted ${size}]`;
    for (let count = 2; this.#pastes.has(label); count += 1) label = `[pasted ${size}, ${count}]`;
    this.#pastes.set(label, text);
    this.#change(edit(this.#editor, { type: 'paste', text: label }));
  }

  /** Returns the input without the label before the cursor; undefined if there is none. */
  #withoutPaste(): EditorState | undefined {
    const { text, cursor } = this.#editor;
    const label = [...this.#pastes.keys()].find((one) => text.slice(0, cursor).endsWith(one));
    if (label === undefined) return undefined;
    const start = cursor - label.length;
    return { text: text.slice(0, start) + text.slice(cursor), cursor: start };
  }

  #enter(): string | undefined {
    const broken = brokenLine(this.#editor);
    if (broken !== undefined) {
      this.#editor = broken;
      return undefined;
    }
    if (this.#editor.text.trim() === '') return undefined;
    // In one pass, because a pasted text can contain what looks like a label.
    const text = this.#editor.text.replaceAll(/\[pasted [^\]]+\]/g, (one) => this.#pastes.get(one) ?? one);
    if (this.#aside === undefined) this.#pastes.clear();
    this.#history.add(text);
    this.#question = undefined;
    this.#set(emptyEditor);
    if (this.#vim !== undefined) this.#vim.mode = 'insert';
    return text;
  }

  /** Handles a key as the answer to a question. `y` and `n` in a text are no answer, and sending the text means no. */
  #answers(key: ChatKey): boolean {
    if (this.#question === undefined) return false;
    const isLetter = key.type === 'text' && this.isEmpty && /^[yn]$/i.test(key.text);
    if (!isLetter && key.type !== 'escape') return false;
    const { onYes } = this.#question;
    this.#question = undefined;
    if (isLetter && /y/i.test(key.text)) onYes();
    return true;
  }

  #set(editor: EditorState): void {
    this.#change(editor);
    this.#at = this.#history.prompts.length;
  }

  #change(editor: EditorState): void {
    if (editor.text !== this.#editor.text) {
      this.#chosen = 0;
      this.#menuClosed = false;
    }
    this.#editor = editor;
  }

  #menu(): Menu | undefined {
    const items = this.#items();
    if (items === undefined || (items.length === 0 && this.#picker === undefined)) return undefined;
    const { title } = this.#picker ?? {};
    return { ...defined({ title }), items, chosen: Math.min(this.#chosen, items.length - 1) };
  }

  #items(): readonly MenuItem[] | undefined {
    const { text, cursor } = this.#editor;
    if (this.#picker !== undefined) return matchingItems(this.#picker.items, text);
    if (this.#menuClosed || this.#search !== undefined) return undefined;
    const command = /^\/(\S*)$/.exec(text)?.[1];
    if (command !== undefined) return commandItems(command, this.#commands);
    const path = typedPath(text, cursor);
    return path === undefined ? undefined : pathItems(path, this.#folder);
  }

  #inMenu(key: ChatKey): boolean {
    const menu = this.#menu();
    if (this.#picker !== undefined && key.type === 'escape') {
      this.#picker = undefined;
      this.#set(emptyEditor);
      return true;
    }
    if (menu === undefined) return key.type === 'tab';
    const item = menu.items[menu.chosen];
    switch (key.type) {
      case 'up':
      case 'down':
        this.#chosen = moveIn(menu, key.type === 'down' ? 1 : -1).chosen;
        return true;
      case 'escape':
        this.#menuClosed = true;
        return true;
      case 'tab':
      case 'enter':
        return item === undefined || this.#take(item, key.type);
      default:
        return false;
    }
  }

  /** Returns false if the caller must handle the key by sending the input. */
  #take(item: MenuItem, key: 'tab' | 'enter'): boolean {
    const picker = this.#picker;
    if (picker !== undefined) {
      this.#picker = undefined;
      this.#set(emptyEditor);
      picker.onPick(item.fills ?? item.name);
      return true;
    }
    if (/^\/\S*$/.test(this.#editor.text)) {
      this.#editor = editorWith(key === 'enter' ? item.name : `${item.name} `);
      return key === 'tab';
    }
    const { text, cursor } = this.#editor;
    const typed = typedPath(text, cursor) ?? '';
    // A complete path is sent with Enter like any other word.
    if (key === 'enter' && typed === item.name) return false;
    const begin = cursor - typed.length;
    const end = item.name.endsWith('/') ? '' : ' ';
    const before = text.slice(0, begin) + item.name + end;
    this.#change({ text: before + text.slice(cursor), cursor: before.length });
    return true;
  }

  #inHistory(direction: 'up' | 'down'): void {
    const { prompts } = this.#history;
    const at = this.#at + (direction === 'up' ? -1 : 1);
    if (at < 0 || at > prompts.length) return;
    if (this.#at === prompts.length) this.#unsent = this.#editor;
    this.#at = at;
    this.#change(at === prompts.length ? this.#unsent : editorWith(prompts[at] ?? ''));
    this.#menuClosed = true;
  }

  #searching(search: Search, key: ChatKey): undefined {
    const { prompts } = this.#history;
    if (key.type === 'text' || key.type === 'backspace' || key.type === 'search') {
      const words =
        key.type === 'text'
          ? search.words + key.text
          : key.type === 'backspace'
            ? search.words.slice(0, -1)
            : search.words;
      const from = key.type === 'search' ? search.at : prompts.length;
      const at = words === '' ? -1 : findPrompt(prompts, words, from);
      const isFound = words === '' || at !== -1;
      this.#search = { ...search, words, isFound, at: at === -1 ? search.at : at };
      if (at !== -1) this.#editor = editorWith(prompts[at] ?? '');
      return undefined;
    }
    this.#search = undefined;
    this.#menuClosed = true;
    if (key.type === 'escape') this.#editor = search.before;
    return undefined;
  }
}

function matchingItems(items: readonly MenuItem[], typed: string): MenuItem[] {
  const words = typed.toLowerCase();
  return items.filter(({ name, text = '' }) => `${name} ${text}`.toLowerCase().includes(words));
}
