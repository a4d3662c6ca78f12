import { randomUUID } from 'node:crypto';
import { AgentError } from '@cobbler/agent';
import type { Runner } from '@cobbler/agent/runner';
import type { Assistant, Button, Incoming } from '@cobbler/assistant';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { MarkdownStream } from '../terminal/markdown.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import type { LineListener, LineSource } from './line-source.ts';
import type { TerminalChannel, TerminalView } from './terminal-channel.ts';

/** The one chat of a terminal and its one user. */
const chat = { chatId: 'local', userId: 'local' };

export interface TerminalChatOptions {
  readonly io: Io;
  readonly assistant: Pick<Assistant, 'receive'>;
  readonly runner: Pick<Runner, 'result' | 'cancel'>;
  readonly channel: TerminalChannel;
  readonly openLines: (listener: LineListener, sign: string) => LineSource;
  /** True if the input is piped: then each line waits for the response to the line before it. */
  readonly isPiped: boolean;
}

/** Shows messages of the assistant: formatted on a terminal, plain in a pipe. */
export function terminalView(io: Io, print: (text: string) => void): TerminalView {
  const screen = screenFor(io.stdout, io.env);
  const style = styleFor(screen);
  const applyStyle = (markdown: string) => {
    const stream = new MarkdownStream(style, () => screen.columns());
    return `${stream.push(markdown)}${stream.end()}`.trimEnd();
  };
  return {
    show(markdown, buttons) {
      const text = screen.tty ? applyStyle(visible(markdown)) : visible(markdown);
      // A blank line separates responses from typed lines on a terminal.
      print(`${[text, ...choices(buttons, style)].join('\n')}\n${screen.tty ? '\n' : ''}`);
    },
    folder: () => io.cwd(),
  };
}

function choices(buttons: readonly Button[], { bold, dim }: Style): readonly string[] {
  if (buttons.length === 0) return [];
  const lines = buttons.map(({ label }, index) => `  ${bold(String(index + 1))}  ${visible(label)}`);
  return [...lines, dim('  Type a number.')];
}

/** A conversation line by line. */
export class TerminalChat implements LineListener {
  readonly #options: TerminalChatOptions;
  readonly #lines: LineSource;
  readonly #ended = Promise.withResolvers<void>();
  /** Unfinished turns, by run. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #queue: Promise<unknown> = Promise.resolve();
  #isLeaving = false;

  constructor(options: TerminalChatOptions) {
    this.#options = options;
    const { marks } = styleFor(screenFor(options.io.stdout, options.io.env));
    this.#lines = options.openLines(this, `${marks.prompt} `);
  }

  /** Runs until the input ends. */
  async run(): Promise<void> {
    this.#lines.prompt();
    await this.#ended.promise;
  }

  print(text: string): void {
    this.#lines.print(text);
  }

  onLine(line: string): void {
    this.#isLeaving = false;
    const text = line.trim();
    if (text === '/quit' || text === '/exit') return this.#lines.close();
    if (text !== '') {
      if (this.#options.isPiped) this.#queue = this.#queue.then(() => this.#say(text));
      else void this.#say(text);
    }
    this.#lines.prompt();
  }

  onInterrupt(): void {
    if (this.#lines.clearLine()) return;
    if (this.#turns.size > 0) {
      for (const runId of this.#turns.keys()) void this.#options.runner.cancel(runId);
      this.print('Stopped.\n');
      return;
    }
    if (this.#isLeaving) return this.#lines.close();
    this.#isLeaving = true;
    this.print('Press Ctrl-C again to exit.\n');
  }

  onEnd(): void {
    void this.#queue.then(() => this.#ended.resolve());
  }

  /** Ends the chat on an external signal. */
  leave(): void {
    this.#lines.close();
    this.#ended.resolve();
  }

  async #say(text: string): Promise<void> {
    const { assistant, runner, isPiped, channel } = this.#options;
    const arrival = this.#arrivalOf(text);
    const runId = `terminal-${arrival.id}`;
    try {
      await assistant.receive(arrival);
      const over = runner.result(runId);
      if (arrival.type === 'text' && !text.startsWith('/')) this.#turns.set(runId, over);
      else await over;
      await (isPiped ? this.#waitForReplies() : over);
      // The next line may ask about something that is still being remembered.
      if (isPiped) await runner.result(`${runId}-remember`).catch(() => undefined);
      const notice = channel.takeNotice();
      if (arrival.type === 'tap' && notice !== undefined) this.print(`${notice}\n`);
    } catch (error) {
      const { kind, code, message } = AgentError.from(error);
      if (kind !== 'aborted' && code !== 'closed') this.print(`Failed: ${visible(message)}\n`);
    } finally {
      if (!isPiped) this.#turns.delete(runId);
    }
  }

  /** Waits until every turn has ended, or until a question is open that only the next piped line can answer. */
  async #waitForReplies(): Promise<void> {
    const { channel, io } = this.#options;
    let isOver = this.#turns.size === 0;
    const over = Promise.all(this.#turns.values()).finally(() => {
      isOver = true;
      this.#turns.clear();
    });
    over.catch(() => undefined);
    const before = channel.question;
    while (!isOver && (channel.question === undefined || channel.question === before))
      await new Promise<void>((resume) => void io.clock.after(20, resume));
    if (isOver) await over;
  }

  #arrivalOf(text: string): Incoming {
    const { question } = this.#options.channel;
    const arrival = { id: randomUUID(), ...chat, sentAt: Date.now() };
    const button = /^[1-9]$/.test(text) ? question?.buttons[Number(text) - 1] : undefined;
    if (button === undefined || question === undefined) return { type: 'text', ...arrival, text };
    const { data } = button;
    return { type: 'tap', ...arrival, data, tapId: arrival.id, message: question.messageId };
  }
}
