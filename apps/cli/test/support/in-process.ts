import { parseCommandLine } from '../../src/command-line/parse.ts';
import { run } from '../../src/commands/run.ts';
import { invocation } from '../../src/invocation.ts';
import type { Clock } from '../../src/terminal/io.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';
import type { BinaryOptions, Ended } from './binary.ts';
import { bareEnvironment } from './binary.ts';
import { fakeIo, fakeKeyboard } from './fake-io.ts';

/** The result of an invocation. */
export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment of an invocation. */
export interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Keys for approvals, one per approval. Absent: there is no terminal. */
  readonly keys?: readonly string[];
}

const realClock: Clock = {
  now: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Runs a command line in this process, from parsing to the report of an error, with the environment of
 * {@link bareEnvironment}. It costs a tenth of a process, so only tests of signals, pipes, crashes or several processes
 * need the `cobbler` of `binary.ts`.
 */
export async function cobbler(
  args: readonly string[],
  { env = {}, cwd = process.cwd(), input = '' }: Pick<BinaryOptions, 'env' | 'cwd' | 'input'> = {},
): Promise<Ended> {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  // The compile cache of a process is not this one's.
  const own = bareEnvironment({ NODE_DISABLE_COMPILE_CACHE: '1', ...env });
  const io = fakeIo({ env: own, cwd, outTty: false, errTty: false });
  const code = await invocation({
    ...io,
    args,
    clock: realClock,
    stdin: { tty: false, read: async () => bytes },
  });
  return { code, signal: null, stdout: io.stdout.text(), stderr: io.stderr.text() };
}

/** Runs `cobbler run` in this process. `more` contains options that have no flag. */
export async function invoke(
  args: readonly string[],
  { env, cwd, keys }: Place,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Ending> {
  const keyboard = fakeKeyboard();
  const io = fakeIo({
    env: bareEnvironment(env),
    cwd,
    input: '',
    outTty: false,
    errTty: keys !== undefined,
    ...(keys !== undefined && { keyboard }),
  });
  const left = [...(keys ?? [])];
  const { write } = io.stderr;
  io.stderr.write = (text) => {
    write(text);
    if (!text.includes('deny with a reason')) return;
    const key = left.shift();
    if (key !== undefined) setImmediate(() => keyboard.press(key));
  };
  try {
    const { operands, options } = parseCommandLine(args);
    const code = await run(operands, { ...options, ...more }, io);
    return { code, stdout: io.stdout.text(), stderr: io.stderr.text() };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { code: 2, stdout: '', stderr: `cobbler: ${error.message}\n` };
  }
}
