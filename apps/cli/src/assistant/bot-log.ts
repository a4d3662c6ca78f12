import { visible } from '../terminal/escape.ts';

/** Log level. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

type Fact = string | number | boolean | undefined;

export interface BotLogOptions {
  readonly write: (line: string) => void;
  readonly level: LogLevel;
  /** True for a line of text per entry; false for JSON. */
  readonly forPeople: boolean;
  /** Strings that are removed from every entry. */
  readonly secrets: readonly string[];
  /** Wall clock. Default: the real one. */
  readonly now?: () => number;
}

/** The log of the assistant, one entry per line. It contains message text only at level `debug`. */
export class BotLog {
  readonly #options: BotLogOptions;

  constructor(options: BotLogOptions) {
    this.#options = options;
  }

  note(level: LogLevel, message: string, facts: Readonly<Record<string, Fact>> = {}): void {
    const { level: minLevel, forPeople, write, now = Date.now } = this.#options;
    if (logLevels.indexOf(level) < logLevels.indexOf(minLevel)) return;
    const time = new Date(now()).toISOString();
    const known = Object.entries(facts).filter(([, value]) => value !== undefined);
    const line = forPeople
      ? [time.slice(11, 19), ...(level === 'info' ? [] : [level]), message, ...known.map(factText)].join('  ')
      : JSON.stringify({ time, level, message, ...Object.fromEntries(known) });
    write(`${this.#withoutSecrets(line)}\n`);
  }

  #withoutSecrets(line: string): string {
    return this.#options.secrets
      .filter((secret) => secret !== '')
      .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), line);
  }
}

function factText([name, value]: readonly [string, Fact]): string {
  const text = visible(String(value)).replaceAll('\n', ' ');
  return `${name}=${/\s/.test(text) ? JSON.stringify(text) : text}`;
}
