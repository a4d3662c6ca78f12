import type { UserPart } from '@cobbler/agent';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import { VisibleStream, visible } from '../terminal/escape.ts';
import type { Environment } from '../terminal/io.ts';
import type { Style } from '../terminal/style.ts';

/** The working directory and output of shell commands. */
export interface ShellPorts {
  readonly style: Style;
  readonly place: { readonly folder: string; readonly env: Environment };
  /** Adds lines to the page. */
  show(lines: readonly string[]): unknown;
  /** Called when a command has started or ended. */
  onChange(): void;
}

/** Runs the user's shell commands, one at a time, and keeps their output for the model. */
export class ShellCommands {
  readonly #ports: ShellPorts;
  readonly #output: UserPart[] = [];
  #running: AbortController | undefined;

  constructor(ports: ShellPorts) {
    this.#ports = ports;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  run(line: string): void {
    const { style, show } = this.#ports;
    if (this.#running !== undefined) show([style.yellow('A shell command is running. Ctrl-C stops it.')]);
    else void this.#run(line, new AbortController());
  }

  /** Stops the running command. Returns false if none is running. */
  stop(): boolean {
    this.#running?.abort();
    return this.isRunning;
  }

  /** Returns the output since the last call as parts of a prompt. */
  takeOutput(): UserPart[] {
    return this.#output.splice(0);
  }

  async #run(line: string, stop: AbortController): Promise<void> {
    const { style, place, show, onChange } = this.#ports;
    this.#running = stop;
    show(['', `${style.cyan('!')} ${style.bold(visible(line))}`]);
    onChange();
    const { text, how } = await runShellLine(line, { ...place, signal: stop.signal }, (lines) =>
      show(lines.map((one) => `  ${one}`)),
    );
    this.#running = undefined;
    show([style.dim(`  ${how}`)]);
    const name = JSON.stringify(`! ${line}`);
    const frame = `<attachment name=${name}>\n${text.trimEnd()}\n[${how}]\n</attachment>`;
    this.#output.push({ type: 'text', text: frame });
    onChange();
  }
}

interface ShellEnd {
  readonly text: string;
  /** The exit in words, such as `exit 1`. */
  readonly how: string;
}

/** Maximum output that the model receives, in characters. */
const maxReported = 20_000;

/** Runs a command in a shell without a terminal. `show` receives complete lines as they arrive, without control characters. */
async function runShellLine(
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
