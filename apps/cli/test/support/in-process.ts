import { parseCommandLine } from '../../src/command-line/parse.ts';
import { run } from '../../src/commands/run.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';
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
