import type { FileConfig, NotifyConfig } from '@cobbler/agent/node';
import type { Io } from '../terminal/io.ts';
import type { ChatKey } from './input/key.ts';

/** How a user who looks elsewhere is called. */
export type Notify = FileConfig['notify'];

/** Time without a key after which the user may look elsewhere although the terminal has the focus, in milliseconds. */
const idleMs = 10_000;

/** Calls a user who looks elsewhere, when the chat waits or is done. */
export class Attention {
  readonly #io: Io;
  readonly #how: NotifyConfig['chat'];
  #keyAt: number;
  /** Not every terminal reports it. */
  #hasFocus = true;

  constructor(io: Io, how: Notify) {
    this.#io = io;
    this.#how = (typeof how === 'object' ? how.chat : how) ?? 'bell';
    this.#keyAt = io.clock.now();
  }

  key({ type }: ChatKey): void {
    if (type !== 'focus' && type !== 'blur') this.#keyAt = this.#io.clock.now();
    this.#hasFocus = type !== 'blur';
  }

  /** Time since the last key in milliseconds. */
  get quietMs(): number {
    return this.#io.clock.now() - this.#keyAt;
  }

  /** `words` are our own: text of a model could contain control characters. */
  call(words: 'is done' | 'is waiting for you'): void {
    const { stdout, env } = this.#io;
    const isHere = this.#hasFocus && this.quietMs < idleMs;
    if (this.#how === 'off' || isHere) return;
    if (this.#how === 'bell') return stdout.write('\x07');
    const is777 = env['VTE_VERSION'] !== undefined || /^(rxvt|foot)/.test(env['TERM'] ?? '');
    stdout.write(`\x1b]${is777 ? '777;notify;Cobbler;' : '9;'}Cobbler ${words}\x07`);
  }
}
