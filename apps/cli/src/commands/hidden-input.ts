import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Reads a secret: typed without echo at a terminal, or piped in.
 * @throws UsageError when there is neither, or it is given up with Ctrl-C.
 */
export async function readHidden(question: string, io: Io): Promise<string> {
  if (!io.stdin.tty)
    return Buffer.from(await io.stdin.read())
      .toString('utf8')
      .trim();
  const keyboard = io.openKeyboard();
  if (keyboard === undefined) {
    throw new UsageError(
      'There is no terminal to type the key in.',
      'Pipe it in: cobbler config set-key PROVIDER < FILE',
    );
  }
  io.stderr.write(question);
  try {
    return await new Promise((resolve, reject) => {
      let typed = '';
      keyboard.listen((key) => {
        if (key.type === 'enter') resolve(typed.trim());
        else if (key.type === 'interrupt') reject(new UsageError('Nothing was stored.'));
        else if (key.type === 'backspace') typed = Array.from(typed).slice(0, -1).join('');
        else if (key.type === 'text') typed += key.text;
      });
    });
  } finally {
    keyboard.close();
    io.stderr.write('\n');
  }
}
