import type { UserPart } from '@cobbler/agent';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { partOf, readAttachment, textFrom } from './attachment.ts';

/** After this long without an end of the pipe, say what is being waited for. */
const patienceMs = 1000;

/**
 * What the model is asked: the words given, what is piped in, and the files attached. With words the pipe is
 * an attachment, without it is the prompt.
 * @throws UsageError when there is nothing to ask.
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
    throw new UsageError(
      'What is piped in is not text.',
      'Say what to do with it: cobbler "describe this" < FILE',
    );
  }
  return [...files, { type: 'text', text }];
}

/** Everything piped in; nothing when that is empty. */
async function readPipe(io: Io): Promise<Uint8Array | undefined> {
  const forget = io.clock.after(patienceMs, () => {
    io.stderr.write('cobbler: reading standard input to its end; without one, start with < /dev/null\n');
  });
  try {
    const bytes = await io.stdin.read();
    return bytes.every((byte) => byte <= 0x20) ? undefined : bytes;
  } finally {
    forget();
  }
}

/** The error of a command line without a prompt. */
export function nothingToDo(): UsageError {
  return new UsageError(
    'There is nothing to do: no prompt was given.',
    'Say what to do:      cobbler "fix the failing test"',
    'Talk about it:       cobbler chat',
    'See it work first:   cobbler demo',
    'All about it:        cobbler --help',
  );
}
