import type { RunEvent, Tool } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { OutputForm } from '../config/run-flags.ts';
import { visibleJson } from '../terminal/escape.ts';
import type { Io, Output } from '../terminal/io.ts';
import type { Screen } from '../terminal/screen.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import { Terminal } from '../terminal/terminal.ts';
import { flow } from '../terminal/text-width.ts';
import type { ApprovalPorts } from '../view/approval-dialog.ts';
import type { RunDisplay } from '../view/run-view.ts';
import { RunView } from '../view/run-view.ts';
import { ToolCallList } from '../view/tool-calls.ts';

/** The outputs and view of a run. */
export interface RunOutput {
  readonly view: RunDisplay;
  readonly terminal: Terminal;
  readonly calls: ToolCallList;
  /** The capabilities of standard error. */
  readonly screen: Screen;
  readonly style: Style;
}

/** The options that choose the view of a run. */
export interface OutputPlan {
  readonly form: OutputForm;
  readonly verbose: boolean;
  readonly model: string;
  readonly tools: readonly Tool[];
  /** Facts to show above a run. */
  readonly header: readonly string[];
  /** Dialog for approvals. Absent: no user can be asked. */
  readonly approvals?: Pick<ApprovalPorts, 'folder' | 'answer' | 'allowAlways' | 'offers' | 'scope'>;
}

/** Creates the view of a run and prints its header. */
export function createOutput(plan: OutputPlan, io: Io): RunOutput {
  const screen = screenFor(io.stderr, io.env);
  const style = styleFor(screen);
  const terminal = new Terminal(io.stdout, io.stderr, screen);
  const calls = new ToolCallList(plan.tools);
  const parts = { terminal, calls, screen, style };
  if (plan.form === 'json' || plan.form === 'json-deltas') {
    return { ...parts, view: new JsonView(io.stdout, plan.form === 'json-deltas') };
  }
  const quiet = plan.form === 'quiet';
  if (!quiet) terminal.lines(headerLines(plan.header, style, screen));
  const answerScreen = screenFor(io.stdout, io.env);
  const view = new RunView({
    io,
    terminal,
    calls,
    quiet,
    answer: { screen: answerScreen, style: styleFor(answerScreen) },
    report: { screen, style },
    model: plan.model,
    verbose: plan.verbose,
    ...defined({ approvals: plan.approvals }),
  });
  return { ...parts, view };
}

function headerLines(facts: readonly string[], style: Style, screen: Screen): string[] {
  const [first = '', ...rest] = flow(facts, ` ${style.marks.dot} `, screen.columns() - 1);
  const name = facts[0] ?? '';
  return [style.bold(name) + style.dim(first.slice(name.length)), ...rest.map(style.dim)];
}

/**
 * Prints a run for a program, one event per line: first `started`, then the stored events as they are stored, last
 * `finished`, which has no `seq` if it could not be stored. With `deltas`, it also prints the live events, which have
 * no `seq`.
 */
export class JsonView implements RunDisplay {
  readonly #out: Output;
  readonly #deltas: boolean;

  constructor(out: Output, deltas: boolean) {
    this.#out = out;
    this.#deltas = deltas;
  }

  event(event: RunEvent): void {
    const isShown = isStored(event) || event.type === 'started' || event.type === 'finished';
    if (!isShown && !this.#deltas) return;
    this.#out.write(`${visibleJson(JSON.stringify({ v: 1, ...event }))}\n`);
  }

  stopping(): void {}

  key(): void {}

  end(): void {}
}
