/** Log level. */
export type Level = 'debug' | 'info' | 'warn' | 'error';

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/** Additional data of a log entry. */
export type Facts = Readonly<Record<string, unknown>>;

/** Receives log lines. */
export type LineSink = (line: string) => void;

/** The log of the server: one JSON object per line, from a minimum level, without secrets. */
export class Logger {
  readonly #sink: LineSink;
  readonly #minLevel: number;
  readonly #now: () => number;

  constructor(sink: LineSink, level: Level = 'info', now: () => number = Date.now) {
    this.#sink = sink;
    this.#minLevel = levels.indexOf(level);
    this.#now = now;
  }

  note(level: Level, message: string, facts: Facts = {}): void {
    if (levels.indexOf(level) < this.#minLevel) return;
    const head = { time: new Date(this.#now()).toISOString(), level, message };
    this.#sink(JSON.stringify({ ...head, ...facts }, redact));
  }
}

const secretNames = /^(authorization|cookie|set-cookie|token|secret|password|api[-_]?key|x-api-key)$/i;

/** Patterns that match only secrets: our own tokens, keys of model services, bearer headers. */
const secretShapes = /\b(?:cbk_[\w-]{10,}|sk-[\w-]{8,})|\bBearer +[\x21-\x7e]+/g;

/** Replaces secrets while a line is written. */
function redact(name: string, value: unknown): unknown {
  if (secretNames.test(name)) return '[redacted]';
  return typeof value === 'string' ? value.replace(secretShapes, '[redacted]') : value;
}
