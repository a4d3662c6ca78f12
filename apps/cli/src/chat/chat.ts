import type { Harness } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import { prepareColors } from '../terminal/code-colors.ts';
import { visible } from '../terminal/escape.ts';
import { reactionMs } from '../terminal/keyboard.ts';
import { styleFor } from '../terminal/style.ts';
import { Attention } from './attention.ts';
import { watchCommands } from './background-command.ts';
import { Conversation } from './conversation.ts';
import { branchReader, complaintLines, headerLines, missingLine, resultLines, statusFacts } from './facts.ts';
import type { ChatParts } from './host.ts';
import { PastedImages, programReader } from './input/clipboard.ts';
import type { ChatKey } from './input/key.ts';
import { plainKeys } from './input/key.ts';
import { readKeys } from './input/key-decoder.ts';
import { withReferences } from './input/references.ts';
import { inputView, noteLines, placeholderOf } from './input-view.ts';
import { listenerOf } from './listener.ts';
import { LivePage } from './live-page.ts';
import { PromptNotes } from './prompt-notes.ts';
import { Prompter } from './prompter.ts';
import { ShellCommands } from './shell-commands.ts';
import type { CommandContext, ReplaceOptions } from './slash-command.ts';
import { runCommand } from './slash-commands.ts';

/** A second Ctrl-C within this time leaves the chat, in milliseconds. */
const againMs = 2000;

/** Time without a key after which work that delays the next one may begin, in milliseconds. */
const quietMs = 300;

/** Makes the terminal mark pasted text, and report whether it has the focus. */
const reports = { on: '\x1b[?2004h\x1b[?1004h', off: '\x1b[?1004l\x1b[?2004l' } as const;

/** A conversation in a terminal: the input is below the page, and the output is appended to the page. */
export class InteractiveChat {
  readonly #parts: ChatParts;
  readonly #page: LivePage;
  readonly #prompter: Prompter;
  readonly #attention: Attention;
  readonly #done = Promise.withResolvers<number>();
  #conversation: Conversation;
  #stopKeys = () => {};
  #interruptedAt = Number.NEGATIVE_INFINITY;
  /** Messages that the run did not read before it ended. */
  readonly #next: { readonly text: string; readonly named: string }[] = [];
  readonly #shell: ShellCommands;
  readonly #notes: PromptNotes;
  readonly #images: PastedImages;
  readonly #branch: () => string | undefined;
  #commands: Promise<void> = Promise.resolve();
  #link: string | undefined;
  #notice = '';
  #isOver = false;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    const { io, screen, history, host, notify } = parts;
    this.#page = new LivePage(io.stdout, screen, io.clock);
    this.#prompter = new Prompter(history, host.folder, host.local?.commands);
    if (parts.vim === true) this.#prompter.switchVim();
    this.#images = new PastedImages(io.env, parts.readProgram ?? programReader(io.env, host.folder));
    this.#attention = new Attention(io, notify);
    this.#branch = branchReader(host.folder, io.clock);
    this.#shell = new ShellCommands({
      style: parts.style,
      place: { folder: host.folder, env: io.env },
      show: (lines) => this.#isOver || this.#page.aside(lines),
      onChange: () => this.#draw(),
    });
    this.#notes = new PromptNotes(host.local?.permission);
    this.#conversation = this.#openConversation(parts.sessionId);
  }

  /** Runs the chat until the user leaves. Returns the exit code. */
  async run(): Promise<number> {
    const { io, keyboard, sessionId, prompt, style } = this.#parts;
    const stops = [
      io.stdout.onResize(() => this.#draw()),
      // Ctrl-C arrives as a key; this signal means that the process must end.
      io.onInterrupt(() => this.#leave(130)),
      io.onBrokenPipe(() => this.#leave()),
      watchCommands(
        this.#parts.host,
        () => this.#conversation.harness.sessionId,
        () => this.#draw(),
      ),
    ];
    io.stdout.write(reports.on);
    this.#page.lines(this.#header());
    if (sessionId !== undefined) await this.#recall();
    this.#stopKeys = readKeys(keyboard, io.clock, (keys) => this.#press(keys));
    this.#draw();
    if (style.color) stops.push(prepareColors(io.clock, () => this.#attention.quietMs > quietMs));
    if (prompt !== undefined) this.#conversation.say(prompt);
    const code = await this.#done.promise;
    for (const stop of stops) stop();
    return code;
  }

  #header(): string[] {
    const { host, style, screen } = this.#parts;
    return headerLines(host, this.#conversation.harness.sessionId, style, screen.columns());
  }

  async #recall(): Promise<void> {
    try {
      const { sessionId } = this.#conversation.harness;
      this.#conversation.recall(await this.#parts.host.past(sessionId));
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Opens a conversation. It ignores later events of the previous one. */
  #openConversation(sessionId: string | undefined): Conversation {
    const { io, host, screen, style } = this.#parts;
    return new Conversation(
      {
        io,
        host,
        screen,
        style,
        page: this.#page,
        onChange: () => this.#draw(),
        onRunEnd: () => this.#runEnded(),
        onUnsent: (text) =>
          this.#prompter.isEmpty ? this.#prompter.draft(text) : this.#next.push({ text, named: '' }),
        onQuestion: () => this.#attention.call('is waiting for you'),
      },
      (conversation) =>
        host.open(
          sessionId,
          listenerOf(conversation, {
            style,
            isCurrent: () => !this.#isOver && this.#conversation === conversation,
            aside: (lines) => this.#page.aside(lines),
            link: (words) => {
              this.#link = words;
              this.#draw();
            },
          }),
        ),
    );
  }

  #runEnded(): void {
    if (this.#isOver) return;
    const next = this.#next.shift();
    if (next !== undefined) this.#say(next.text, next.named);
    else if (this.#conversation.dialog === undefined) this.#attention.call('is done');
    this.#draw();
  }

  #press(keys: readonly ChatKey[]): void {
    for (const key of keys) {
      if (this.#isOver) return;
      this.#attention.key(key);
      if (key.type === 'focus' || key.type === 'blur') continue;
      try {
        this.#key(key);
      } catch (error) {
        this.#complain(error);
      }
    }
    if (keys.length > 0) this.#draw();
  }

  #key(key: ChatKey): void {
    if (key.type !== 'interrupt') this.#notice = '';
    switch (key.type) {
      case 'interrupt':
        return this.#interrupt();
      case 'suspend':
        return this.#suspend();
      case 'redraw':
        return this.#redraw();
      case 'expand':
        return this.#expand();
      case 'paste_image':
        return this.#settle(this.#pasteImage());
      case 'end_of_input':
        if (this.#prompter.isEmpty) this.#leave();
        return;
    }
    const { dialog } = this.#conversation;
    const isAsked = this.#prompter.isAsking || (dialog !== undefined && !dialog.isTyping);
    const canSwap = isAsked || (dialog === undefined && this.#prompter.isEmpty);
    if (canSwap && this.#prompter.isSwap(key) && this.#prompter.swapDraft()) return;
    if (this.#answers(key)) return;
    if (key.type === 'up' && this.#prompter.isEmpty && !this.#prompter.isBusy) {
      const text = this.#conversation.takeBack();
      if (text !== undefined) return this.#prompter.draft(text);
    }
    const input = this.#prompter.key(key);
    if (input !== undefined) this.#enter(input);
  }

  /**
   * Handles letters as decisions while no text is typed, unless pressed before the question. Other keys start a message.
   * A letter that came too early is in the input; the same letter again is a decision.
   */
  #answers(key: ChatKey): boolean {
    const { dialog, askedAt } = this.#conversation;
    if (dialog === undefined || this.#prompter.isBusy) return false;
    if (!dialog.isTyping) {
      const isLetter = key.type === 'text' && dialog.accepts(key.text);
      const isEarly = this.#parts.io.clock.now() - askedAt < reactionMs;
      if (!isLetter || isEarly) return false;
      const { text } = this.#prompter.view.editor;
      if (text !== '' && text !== key.text) return false;
      this.#prompter.clear();
    }
    for (const plain of plainKeys(key)) dialog.key(plain);
    return true;
  }

  #interrupt(): void {
    const { clock } = this.#parts.io;
    if (this.#shell.stop()) return;
    if (this.#conversation.isRunning) {
      this.#next.length = 0;
      const unsent = this.#conversation.cancel();
      if (unsent !== '' && this.#prompter.isEmpty) this.#prompter.draft(unsent);
      return;
    }
    if (this.#prompter.clear()) return;
    if (clock.now() - this.#interruptedAt < againMs) return this.#leave();
    this.#interruptedAt = clock.now();
    this.#notice = 'press Ctrl-C again to exit';
  }

  #suspend(): void {
    const { io, keyboard } = this.#parts;
    this.#page.leave();
    io.stdout.write(reports.off);
    keyboard.suspend(() => {
      io.stdout.write(reports.on);
      this.#draw();
    });
  }

  /** Clears the screen and redraws the footer. The page itself is terminal output and cannot be redrawn. */
  #redraw(): void {
    this.#page.leave();
    this.#parts.io.stdout.write('\x1b[H\x1b[2J');
    this.#draw();
  }

  #expand(): void {
    const { ledger, steps } = this.#conversation;
    const last = ledger.lastResult;
    this.#page.aside(resultLines(last, steps.get(last?.callId ?? ''), this.#parts.style));
  }

  #enter(text: string): void {
    const line = text.trim();
    if (line.startsWith('/') && !line.includes('\n')) return this.#command(line);
    if (/^(exit|quit|:q)$/.test(line)) return this.#command('/exit');
    if (line.startsWith('!') && line.length > 1) return this.#shell.run(line.slice(1));
    if (line !== '') this.#send(text, text);
  }

  #send(text: string, named: string): void {
    if (!this.#conversation.isRunning) return this.#say(text, named);
    // Only a prompt can contain an image.
    if (this.#images.in(named).length === 0 && this.#conversation.steer(text)) return;
    this.#next.push({ text, named });
    this.#page.aside([this.#parts.style.dim(`↳ next: ${visible(text.trim())}`)]);
  }

  /** Attaches the files that `named` names: the author of a command may not choose them. */
  #say(text: string, named: string): void {
    const { parts, missing } = withReferences(named, this.#parts.host.folder);
    const notes = [...this.#shell.takeOutput(), ...this.#notes.take()];
    this.#conversation.say([{ type: 'text', text }, ...parts.slice(1), ...this.#images.in(named), ...notes]);
    if (missing.length > 0) this.#page.lines([missingLine(missing, this.#parts.style)]);
  }

  async #pasteImage(): Promise<void> {
    this.#prompter.label(await this.#images.paste());
  }

  #command(line: string): void {
    this.#page.aside(['', this.#parts.style.dim(visible(line))]);
    // Commands run one after another, because each may change the conversation that the next one uses.
    this.#commands = this.#commands
      .then(() => runCommand(line, this.#commandContext()))
      .catch((error) => this.#complain(error))
      .finally(() => this.#draw());
  }

  #commandContext(): CommandContext {
    const { io, host, style, screen } = this.#parts;
    return {
      io,
      host,
      style,
      conversation: this.#conversation,
      notes: this.#notes,
      columns: () => screen.columns(),
      say: (lines) => this.#page.aside(lines),
      pick: (title, items, onPick, current) =>
        this.#prompter.pick(title, items, (name) => this.#settle(onPick(name)), current),
      ask: (question, onYes) => this.#prompter.ask(question, () => this.#settle(onYes())),
      send: (text, named) => this.#send(text, named),
      open: (sessionId, how) => this.#open(sessionId, how),
      adopt: (harness, how) => this.#adopt(harness, how),
      draft: (text) => this.#prompter.draft(text),
      // Everything that draws shares this style.
      setTheme: (theme) => void Object.assign(style, styleFor(screen, theme)),
      switchVim: () => this.#prompter.switchVim(),
      pasteImage: () => this.#pasteImage(),
      copy: (text) => io.stdout.write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`),
      leave: () => this.#leave(),
    };
  }

  #settle(result: unknown): void {
    Promise.resolve(result)
      .catch((error) => this.#complain(error))
      .finally(() => this.#draw());
  }

  async #open(
    sessionId: string | undefined,
    { keepsCost, isQuiet }: ReplaceOptions = {},
  ): Promise<Conversation> {
    const before = this.#conversation;
    const isSame = isQuiet ?? sessionId === before.harness.sessionId;
    await before.harness.close();
    this.#conversation = this.#openConversation(sessionId);
    if (keepsCost) this.#conversation.ledger.carry(before.ledger);
    if (!isSame) this.#page.lines(['', ...this.#header()]);
    if (sessionId === undefined) return this.#conversation;
    if (isSame) this.#conversation.remember(await this.#parts.host.past(sessionId));
    else await this.#recall();
    return this.#conversation;
  }

  async #adopt(harness: Harness, how: ReplaceOptions = {}): Promise<Conversation> {
    this.#parts.host.adopt(harness, this.#conversation.harness.sessionId);
    // Its events are delivered to the listeners of the conversation that created it.
    await harness.close();
    return await this.#open(harness.sessionId, { ...how, isQuiet: true });
  }

  #complain(error: unknown): void {
    this.#page.aside(complaintLines(error, this.#parts));
  }

  #draw(): void {
    if (this.#isOver) return;
    const { screen, style, host } = this.#parts;
    const { above, dialog, isRunning } = this.#conversation;
    if (dialog === undefined && !isRunning && !this.#prompter.isAsking) this.#prompter.giveBack();
    const view = this.#prompter.view;
    const notices = [this.#notice, this.#link ?? ''].map(style.yellow);
    const isAsked = this.#prompter.isAsking || (dialog !== undefined && !dialog.isTyping);
    const isBlocked = isAsked && !this.#prompter.isEmpty;
    this.#page.live(
      inputView(
        {
          editor: view.editor,
          above: [...above, ...noteLines({ isBlocked, isShell: this.#shell.isRunning, ...view }, style)],
          ...defined({ menu: view.menu, search: view.search }),
          status: statusFacts(
            host,
            this.#conversation,
            [this.#prompter.mode, ...notices],
            this.#branch(),
            style,
          ),
          placeholder: placeholderOf(view, dialog, isRunning, this.#prompter.hasAside),
        },
        style,
        screen.columns(),
      ),
    );
  }

  #leave(code = 0): void {
    if (this.#isOver) return;
    const { io, host, style, keyboard } = this.#parts;
    const { harness, ledger } = this.#conversation;
    this.#stopKeys();
    this.#shell.stop();
    this.#isOver = true;
    const closed = this.#conversation.leave();
    this.#page.leave();
    io.stdout.write(reports.off);
    keyboard.close();
    const wayBack = ledger.seq === 0 ? undefined : host.wayBack(harness.sessionId);
    if (wayBack !== undefined) io.stdout.write(`${style.dim(`continue: ${wayBack}`)}\n`);
    void closed.catch(() => undefined).then(() => this.#done.resolve(code));
  }
}
