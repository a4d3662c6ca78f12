import type { RunEvent } from '@cobbler/agent';
import { ignore } from '@cobbler/agent/events';
import { VisibleStream, visible } from '../terminal/escape.ts';
import { formatCount, formatMs, formatUsd } from '../terminal/format.ts';
import type { Io, Key } from '../terminal/io.ts';
import { MarkdownStream } from '../terminal/markdown.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { RunActivity, retryWords } from './activity.ts';
import type { ApprovalPorts } from './approval-dialog.ts';
import { ApprovalDialog } from './approval-dialog.ts';
import { footerLines } from './footer.ts';
import { compactionWords, noticeWords, searchLines } from './history-lines.ts';
import type { ToolCallList } from './tool-calls.ts';
import { plainReport, terminalReport } from './tool-report.ts';

/** Shows a run in progress. */
export interface RunDisplay {
  event(event: RunEvent): void;
  /** Shows immediately that a stop was requested. */
  stopping(): void;
  key(key: Key): void;
  /** Ends the view. `mark`, such as `cancelled`, is the label below a response that was cut off. */
  end(mark: string | undefined): void;
}

/** The place where a run is shown: a page that grows, with a footer below it. */
export interface Page {
  /** Adds text to the response. The text may end in the middle of a line. */
  text(text: string): void;
  /** Adds complete lines to the report. */
  lines(lines: readonly string[]): void;
  /** Replaces the footer. */
  footer(lines: readonly string[]): void;
  /** Ends an open line. */
  close(): void;
}

/** Options of the view. */
export interface RunViewParts {
  readonly io: Io;
  readonly terminal: Page;
  /** The capabilities of standard output, which receives the response. */
  readonly answer: { readonly screen: Screen; readonly style: Style };
  /** The capabilities of standard error, which receives everything else. */
  readonly report: { readonly screen: Screen; readonly style: Style };
  readonly calls: ToolCallList;
  readonly model: string;
  /** Dialog for approvals. Absent: no user can be asked. */
  readonly approvals?: Pick<ApprovalPorts, 'folder' | 'answer' | 'allowAlways' | 'offers' | 'scope'>;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** True to show a line for each time that the model thinks. Default: false. */
  readonly folded?: boolean;
  /** True to keep the footer during output, because the input is below it. Default: false. */
  readonly steady?: boolean;
}

/** Time without output before the footer appears, and between its updates, in milliseconds. */
const footerAfterMs = 300;
const frameMs = 120;
/** Time without output before a status line is printed if there is no terminal, in milliseconds. */
const wordAfterMs = 10_000;

type LastOutput = 'nothing' | 'text' | 'calls';

/** Shows a run to a user: the response as it streams, a line per call, and a footer while there is no other output. */
export class RunView implements RunDisplay {
  readonly #parts: RunViewParts;
  readonly #activity: RunActivity;
  readonly #markdown: MarkdownStream;
  readonly #visible: VisibleStream = new VisibleStream();
  readonly #dialog: ApprovalDialog | undefined;
  /** Text of the current response, which no event contains yet. */
  #partial = '';
  #thinkingSince: number | undefined;
  #block: number | undefined;
  #finalText = '';
  #last: LastOutput = 'nothing';
  #lastOutput: number;
  #frame = 0;
  #stopTicking: () => void = () => undefined;

  constructor(parts: RunViewParts) {
    this.#parts = parts;
    const { clock } = parts.io;
    this.#activity = new RunActivity(parts.model, parts.calls, () => clock.now());
    this.#markdown = new MarkdownStream(parts.answer.style, () => parts.answer.screen.columns());
    this.#lastOutput = clock.now();
    this.#dialog = this.#dialogOf(parts);
    this.#tick();
  }

  event(event: RunEvent): void {
    this.#show(event);
    this.#activity.event(event);
  }

  stopping(): void {
    this.#activity.stopping();
    this.#dialog?.close();
    this.#lastOutput = Number.NEGATIVE_INFINITY;
    this.#draw();
  }

  end(mark: string | undefined): void {
    this.#stopTicking();
    const { terminal, report, answer, io } = this.#parts;
    terminal.footer([]);
    this.#endBlock();
    const isCut = this.#partial.trim() !== '';
    if (!this.#streams) {
      const text = visible(isCut ? this.#partial : this.#finalText).trimEnd();
      if (answer.screen.tty) terminal.text(this.#markdown.push(text) + this.#markdown.end());
      else if (text !== '') io.stdout.write(`${text}\n`);
    }
    if (isCut && mark !== undefined) this.#lines([`${report.style.marks.dash} ${mark}`]);
    terminal.close();
  }

  key(key: Key): void {
    this.#dialog?.key(key);
  }

  #show(event: RunEvent): void {
    const { calls } = this.#parts;
    switch (event.type) {
      case 'text_delta':
        return this.#text(event.index, event.text);
      case 'text':
        return this.#endBlock();
      case 'reasoning_delta':
        this.#thinkingSince ??= this.#parts.io.clock.now();
        break;
      case 'reasoning':
        return this.#reasoning(event.text);
      case 'retry':
        return this.#showRetry(event);
      case 'cache_break':
        return this.#cacheBreak(event);
      case 'compacted':
        return this.#showCompaction(event);
      case 'notice':
        return this.#notice();
      case 'assistant':
        calls.addResponse(event);
        return this.#showResponse(event.content);
      case 'tool_started':
        return calls.start(event);
      case 'progress':
        return calls.progress(event);
      case 'tool_result':
        return this.#report(event);
      case 'approval_requested':
        if (event.diff !== undefined) calls.diffShown(event);
        return this.#showApproval(event);
      case 'user':
        // The message is between the last output and the next.
        if (event.steer === true) this.#last = 'nothing';
        break;
      case 'history':
      case 'approval_decided':
      case 'spent':
      case 'step':
      case 'stop_requested':
      case 'resumed':
        break;
      default:
        ignore<'response' | 'end' | 'stream' | 'activity'>(event);
    }
  }

  #dialogOf({ approvals, report, terminal }: RunViewParts): ApprovalDialog | undefined {
    if (approvals === undefined) return undefined;
    return new ApprovalDialog({
      ...approvals,
      style: report.style,
      columns: () => report.screen.columns(),
      show: (lines) => {
        this.#begin('calls');
        terminal.lines(lines);
      },
      onChange: () => this.#draw(),
    });
  }

  /** True if the response is streamed. It is not in a pipe, where only the last response counts, and not in quiet mode. */
  get #streams(): boolean {
    return this.#parts.answer.screen.tty && !this.#parts.quiet;
  }

  #text(index: number, text: string): void {
    this.#partial += text;
    if (!this.#streams) return;
    if (this.#block !== undefined && this.#block !== index) this.#endBlock();
    const newText = this.#block === undefined ? text.trimStart() : text;
    if (newText === '') return;
    const shown = this.#markdown.push(this.#visible.push(newText));
    this.#block = index;
    if (shown === '') return;
    this.#begin('text');
    this.#parts.terminal.text(shown);
  }

  #endBlock(): void {
    if (this.#block === undefined) return;
    this.#block = undefined;
    const rest = this.#markdown.push(this.#visible.end()) + this.#markdown.end();
    if (rest === '') return;
    this.#begin('text');
    this.#parts.terminal.text(rest);
  }

  /** Handles a retry. The text of the failed attempt is void but remains, because finished lines never change. */
  #showRetry(event: Extract<RunEvent, { type: 'retry' }>): void {
    const { report, quiet } = this.#parts;
    const wasShown = this.#streams && this.#partial.trim() !== '';
    this.#endBlock();
    this.#partial = '';
    if (wasShown) this.#lines([`${report.style.marks.dash} cut off; retrying`]);
    // The footer shows a wait, but a change of the model must remain visible.
    if (quiet || (report.screen.redraw && event.next === undefined)) return;
    this.#lines([retryWords(event, event.delayMs)]);
  }

  #showResponse(content: Extract<RunEvent, { type: 'assistant' }>['content']): void {
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const isFinal = !content.some((part) => part.type === 'tool_call');
    this.#finalText = isFinal ? text : '';
    // The text of a run that another client started does not stream.
    if (this.#partial === '') this.#text(0, text);
    this.#endBlock();
    this.#partial = '';
    if (!isFinal && !this.#streams && text.trim() !== '') this.#say(text);
    const { quiet, report } = this.#parts;
    const notes = quiet ? [] : searchLines(content, report.style);
    if (notes.length > 0) this.#lines(notes);
  }

  /** Prints text between calls to the report, because it is not the response. */
  #say(text: string): void {
    const { quiet, report } = this.#parts;
    if (quiet) return;
    const { tty, columns } = report.screen;
    const markdown = new MarkdownStream(report.style, tty ? columns : () => Number.POSITIVE_INFINITY);
    const shown = markdown.push(visible(text.trim())) + markdown.end();
    this.#begin('text');
    this.#parts.terminal.lines(shown.trimEnd().split('\n'));
  }

  #reasoning(text: string): void {
    const { verbose, quiet, report, folded, io } = this.#parts;
    const durationMs = io.clock.now() - (this.#thinkingSince ?? io.clock.now());
    this.#thinkingSince = undefined;
    if (quiet || text.trim() === '') return;
    if (!verbose && !folded) return;
    this.#begin(folded ? 'calls' : 'text');
    if (folded) return this.#parts.terminal.lines([report.style.dim(`  thought ${formatMs(durationMs)}`)]);
    this.#parts.terminal.lines(
      visible(text.trim())
        .split('\n')
        .map((line) => report.style.dim(line)),
    );
  }

  #report(event: Extract<RunEvent, { type: 'tool_result' }>): void {
    const { calls, quiet, verbose, report, terminal } = this.#parts;
    const done = calls.finish(event);
    if (quiet) return;
    this.#begin('calls');
    const view = { style: report.style, columns: report.screen.columns(), verbose };
    terminal.lines(report.screen.tty ? terminalReport(done, view) : plainReport(done, view));
  }

  #showApproval(event: Extract<RunEvent, { type: 'approval_requested' }>): void {
    this.#dialog?.ask(event);
    // The chat asks in its own dialog, and the question is above the next report.
    if (this.#parts.steady === true) this.#last = 'calls';
    this.#draw();
  }

  /** Reports an avoidable cost in verbose mode. */
  #cacheBreak(event: Extract<RunEvent, { type: 'cache_break' }>): void {
    const { verbose, quiet, report } = this.#parts;
    if (!verbose || quiet) return;
    const { layer, block, tokens, usd, previous } = event;
    const where = previous === undefined ? `at ${layer} ${block}` : `after ${previous.model}`;
    const cost = usd === undefined ? '' : ` (+${formatUsd(usd)})`;
    const words = `cache miss ${where}: about ${formatCount(tokens)} tokens processed again${cost}`;
    this.#lines([report.style.dim(words)]);
  }

  /** Reports a compaction: the model no longer knows the details of older messages, which may explain its next actions. */
  #showCompaction(event: Extract<RunEvent, { type: 'compacted' }>): void {
    const { quiet, report } = this.#parts;
    if (!quiet && event.upTo > 0) this.#lines([report.style.dim(compactionWords(event))]);
  }

  #notice(): void {
    const { quiet, report } = this.#parts;
    if (!quiet) this.#lines([report.style.dim(noticeWords)]);
  }

  #lines(lines: readonly string[]): void {
    this.#begin(this.#last);
    this.#parts.terminal.lines(lines);
  }

  /** Prepares for output: removes the footer, and separates different kinds of output. */
  #begin(what: LastOutput): void {
    const { terminal, report, quiet } = this.#parts;
    this.#lastOutput = this.#parts.io.clock.now();
    if (this.#dialog?.open !== true && this.#parts.steady !== true) terminal.footer([]);
    if (this.#last !== what && !quiet && report.screen.tty) terminal.lines(['']);
    this.#last = what;
  }

  #tick(): void {
    const { io, report, quiet } = this.#parts;
    const again = report.screen.redraw ? frameMs : wordAfterMs / 10;
    if (report.screen.redraw) this.#draw();
    else if (!quiet && io.clock.now() - this.#lastOutput >= wordAfterMs) this.#printStatus();
    this.#stopTicking = io.clock.after(again, () => this.#tick());
  }

  #draw(): void {
    const { terminal, report, io, quiet, steady } = this.#parts;
    if (this.#dialog?.open === true) return terminal.footer(this.#dialog.footer());
    const isMoving = io.clock.now() - this.#lastOutput < footerAfterMs;
    if (quiet || (isMoving && steady !== true)) return terminal.footer([]);
    const { current } = this.#activity;
    // While the response streams, the spinner advances only with the displayed seconds.
    this.#frame = isMoving ? Math.floor(current.elapsedMs / 1000) : this.#frame + 1;
    const { style, screen } = report;
    terminal.footer(footerLines(current, this.#frame, style, screen.columns()));
  }

  /** Prints at intervals what the run is waiting for, if there is no terminal. */
  #printStatus(): void {
    const { what, elapsedMs } = this.#activity.current;
    this.#lines([`${visible(what)} ${formatMs(elapsedMs).replace(/\.\d/, '')}`]);
  }
}
