import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import { VisibleStream, visible } from '../terminal/escape.ts';
import type { Environment } from '../terminal/io.ts';

/** The outcome of a command that the user ran. */
export interface ShellEnd {
  readonly text: string;
  /** Such as `exit 1`. */
  readonly how: string;
}

/** Maximum output that the model receives, in characters. */
const maxReported = 20_000;

/**
 * Runs a line of the person's own in a shell, with the person's environment and without a terminal. `show` gets whole
 * lines as they come, free of control characters.
 */
export async function runShellLine(
  line: string,
  place: { readonly folder: string; readonly env: Environment; readonly signal: AbortSignal },
  show: (lines: readonly string[]) => void,
): Promise<ShellEnd> {
  const decoder = new TextDecoder();
  const safe = new VisibleStream();
  let open = '';
  let text = '';
  const take = (more: string) => {
    text = (text + more).slice(-maxReported);
    const lines = (open + more).split('\n');
    open = lines.pop() ?? '';
    if (lines.length > 0) show(lines);
  };
  const { ended } = superviseProcess({
    argv: ['/bin/sh', '-c', `exec 2>&1; ${line}`],
    cwd: place.folder,
    env: childEnvironment(place.env, definedOf(place.env)),
    signal: place.signal,
    maxOutputBytes: 0,
    onOutput: (chunk) => take(safe.push(decoder.decode(chunk, { stream: true }))),
  });
  const end = await ended;
  take(safe.end());
  if (open !== '') show([open]);
  if (end.cause === 'aborted') return { text, how: 'stopped' };
  if (end.cause === 'unstartable')
    return { text, how: visible(end.error?.message ?? 'could not be started') };
  return { text, how: end.signal === null ? `exit ${end.code}` : end.signal };
}

function definedOf(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
