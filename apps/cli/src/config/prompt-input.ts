import type { UserPart } from '@cobbler/agent';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { partOf, readAttachment, textFrom } from './attachment.ts';

/** Time after which to tell the user that input is still being read, in milliseconds. */
const timeoutMs = 1000;

/**
 * Returns the prompt: the arguments, the piped input and the attached files. With arguments, the piped input is an
 * attachment; otherwise it is the prompt.
 * @throws UsageError if the prompt is empty.
 */
export async function readPrompt(
  words: readonly string[],
  attachments: readonly string[],
  io: Io,
): Promise<readonly UserPart[]> {
  const given = words.length === 1 && words[0] === '-' ? '' : words.join(' ').trim();
  const files = attachments.map((path) => readAttachment(path, io.cwd()));
  const piped = io.stdin.tty ? undefined : await readPipe(io);
  if (given !== '') {
    const rest = piped === undefined ? [] : [partOf(piped, 'standard input')];
    return [...rest, ...files, { type: 'text', text: given }];
  }
  if (piped === undefined) throw nothingToDo();
  const text = textFrom(piped)?.trim();
  if (text === undefined) {
    throw new UsageError('The piped input is not text.', 'Add a prompt: cobbler "describe this" < FILE');
  }
  return [...files, { type: 'text', text }];
}

/** Reads the piped input; undefined if it is empty. */
async function readPipe(io: Io): Promise<Uint8Array | undefined> {
  const forget = io.clock.after(timeoutMs, () => {
    io.stderr.write('cobbler: reading standard input until it ends; to run without it, add < /dev/null\n');
  });
  try {
    const bytes = await io.stdin.read();
    return bytes.every((byte) => byte <= 0x20) ? undefined : bytes;
  } finally {
    forget();
  }
}

/** Returns the error for a command line without a prompt. */
export function nothingToDo(): UsageError {
  return new UsageError(
    'The prompt is missing.',
    'Run a task:          cobbler "fix the failing test"',
    'Chat:                cobbler chat',
    'See a demo:          cobbler demo',
    'All options:         cobbler --help',
  );
}
