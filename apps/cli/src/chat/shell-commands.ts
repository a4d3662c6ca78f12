import type { UserPart } from '@cobbler/agent';
import { visible } from '../terminal/escape.ts';
import type { Environment } from '../terminal/io.ts';
import type { Style } from '../terminal/style.ts';
import { runShellLine } from './shell-line.ts';

/** Where shell lines run and are shown. */
export interface ShellPorts {
  readonly style: Style;
  readonly place: { readonly folder: string; readonly env: Environment };
  /** Adds lines to the page. */
  show(lines: readonly string[]): unknown;
  /** A command has started or ended. */
  changed(): void;
}

/** Runs the person's own shell lines, one at a time, and keeps what they printed for the model. */
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

  /** Stops the line that runs. False when none does. */
  stop(): boolean {
    this.#running?.abort();
    return this.isRunning;
  }

  /** Output since the last call, as parts of a prompt. */
  takeOutput(): UserPart[] {
    return this.#output.splice(0);
  }

  async #run(line: string, stop: AbortController): Promise<void> {
    const { style, place, show, changed } = this.#ports;
    this.#running = stop;
    show(['', `${style.cyan('!')} ${style.bold(visible(line))}`]);
    changed();
    const { text, how } = await runShellLine(line, { ...place, signal: stop.signal }, (lines) =>
      show(lines.map((one) => `  ${one}`)),
    );
    this.#running = undefined;
    show([style.dim(`  ${how}`)]);
    const name = JSON.stringify(`! ${line}`);
    const frame = `<attachment name=${name}>\n${text.trimEnd()}\n[${how}]\n</attachment>`;
    this.#output.push({ type: 'text', text: frame });
    changed();
  }
}
