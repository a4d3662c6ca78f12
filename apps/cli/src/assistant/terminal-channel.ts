import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Button, Channel, MessagePart } from '@cobbler/assistant';

/** The part of the terminal that shows messages of the assistant. */
export interface TerminalView {
  /** Shows a message, with numbered choices if it has buttons. */
  show(markdown: string, buttons: readonly Button[]): void;
  /** Returns the directory for files that the assistant sends. */
  folder(): string;
}

/** A question that waits for the user's choice. */
export interface OpenQuestion {
  readonly messageId: string;
  readonly buttons: readonly Button[];
}

/** The terminal as a channel with one chat; a sent message counts as delivered. */
export interface TerminalChannel extends Channel {
  readonly question: OpenQuestion | undefined;
  /** Returns the last notice about a button press, unless an edited message shows it. */
  takeNotice(): string | undefined;
}

export function terminalChannel(view: TerminalView): TerminalChannel {
  const questions: OpenQuestion[] = [];
  let sent = 0;
  let notice: string | undefined;
  const nextId = () => {
    sent += 1;
    return String(sent);
  };
  const close = (messageId: string) => {
    const index = questions.findIndex((question) => question.messageId === messageId);
    if (index >= 0) questions.splice(index, 1);
  };
  return {
    name: 'terminal',
    get question() {
      return questions.at(-1);
    },
    takeNotice() {
      const taken = notice;
      notice = undefined;
      return taken;
    },
    pieces: (markdown) => (markdown.trim() === '' ? [] : [{ text: markdown.trim() }]),
    async send(_chatId, { text }: MessagePart, { buttons = [], note } = {}) {
      const messageId = nextId();
      if (buttons.length > 0) questions.push({ messageId, buttons });
      view.show(note === undefined ? text : `${note}\n\n${text}`, buttons);
      return messageId;
    },
    async sendFile(_chatId, { name, text }) {
      view.show(`Saved: ${saveFile(view.folder(), name, text)}`, []);
      return nextId();
    },
    async edit(_chatId, messageId, { text }) {
      close(messageId);
      notice = undefined;
      view.show(text, []);
    },
    async typing() {},
    async heard(_tapId, text) {
      notice = text;
    },
  };
}

/** Saves a file without overwriting an existing one. */
function saveFile(folder: string, name: string, text: string): string {
  for (let count = 1; ; count += 1) {
    const path = join(folder, count === 1 ? name : name.replace(/(\.\w+)$/, `-${count}$1`));
    try {
      writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
