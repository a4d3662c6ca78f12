import type { ApprovalDecision, Event, Run, RunEvent, UserPart } from '@cobbler/agent';
import { AgentError, isStored, systemRuntime, textOf } from '@cobbler/agent';
import type { ApprovalRequestedEvent, FinishedEvent } from '@cobbler/agent/events';
import { ignore } from '@cobbler/agent/events';
import type { Harness } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import { visible } from '../terminal/escape.ts';
import { formatMs, formatUsd, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { clip, wrap } from '../terminal/text-width.ts';
import { ApprovalDialog } from '../view/approval-dialog.ts';
import { closingLines, markOf } from '../view/closing.ts';
import { pastLines, promptLines } from '../view/history-lines.ts';
import { Ledger } from '../view/ledger.ts';
import type { Page } from '../view/run-view.ts';
import { RunView } from '../view/run-view.ts';
import { ToolCallList } from '../view/tool-calls.ts';
import type { ChatHost } from './host.ts';
import type { LivePage } from './live-page.ts';

/** The view and the listeners of a conversation. */
export interface ConversationPorts {
  readonly io: Io;
  readonly host: ChatHost;
  readonly page: Page & Pick<LivePage, 'aside'>;
  readonly screen: Screen;
  readonly style: Style;
  /** Called when the content below the page has changed. */
  onChange(): void;
  /** Called with messages that the run has ended without. */
  onUnsent(text: string): void;
  /** Called when a question appears. */
  onQuestion(): void;
  /** Called when a run has ended and the next message can be sent. */
  onRunEnd(status: FinishedEvent['status']): void;
}

/** Number of history lines shown when a session continues. */
const maxPast = 200;

/**
 * One conversation as the user sees it. Messages are sent to the harness, and its events update the view, regardless
 * of who started the run. It uses only the public interface of the harness.
 */
export class Conversation {
  readonly ledger: Ledger = new Ledger();
  readonly harness: Harness;
  /** What calls reported of their progress, by the id of the call. */
  readonly steps: Map<string, string[]> = new Map();
  readonly #ports: ConversationPorts;
  readonly #dialog: ApprovalDialog;
  readonly #answers = new Map<string, ApprovalDecision>();
  #calls: ToolCallList;
  #view: RunView | undefined;
  #run: Run | undefined;
  #runId: string | undefined;
  #activity: readonly string[] = [];
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Messages that the user can take back, because the run has not received them. */
  readonly #held: string[] = [];
  /** True while a call waits that a message ends. */
  #isWaiting = false;
  /** Messages sent during the run that no event has confirmed yet. */
  #steered = 0;

  /** `open` creates the harness, which sends its events to {@link handle}. */
  constructor(ports: ConversationPorts, open: (conversation: Conversation) => Harness) {
    this.#ports = ports;
    this.#calls = this.#newBook();
    this.#dialog = this.#newDialog();
    this.harness = open(this);
  }

  /** True while a run is active, started here or by another client. */
  get isRunning(): boolean {
    return this.#view !== undefined || this.#run !== undefined;
  }

  /** The lines above the input: a question or the activity. */
  get above(): readonly string[] {
    const { style, screen } = this.#ports;
    const room = screen.columns() - 1;
    const held = this.#held.map((text) => clip(`↳ queued: ${oneLine(text)}`, room, style.marks.ellipsis));
    return [...(this.#dialog.open ? this.#dialog.footer() : this.#activity), ...held.map(style.dim)];
  }

  /** The dialog of the open question. */
  get dialog(): ApprovalDialog | undefined {
    return this.#dialog.open ? this.#dialog : undefined;
  }

  /** Time at which the question appeared; a key pressed at the same time was meant for something else. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Processes earlier events. */
  remember(past: readonly Event[]): void {
    for (const event of past) {
      this.ledger.handle(event);
      if (event.type === 'assistant') this.#calls.addResponse(event);
    }
  }

  /** Processes earlier events and shows the last of them. */
  recall(past: readonly Event[]): void {
    this.remember(past);
    const { page, style } = this.#ports;
    const view = {
      style,
      columns: this.#ports.screen.columns(),
      tty: true,
      verbose: false,
      colored: maxPast,
      shortens: true,
    };
    const lines = pastLines(past, this.#newBook(), view);
    const left = lines.length - maxPast;
    if (left > 0) page.lines([style.dim(`+ ${plural(left, 'earlier input')}`)]);
    page.lines(lines.slice(-maxPast));
    for (const request of this.ledger.openApprovals.values()) this.#ask(request);
    const end = past.findLast(({ type }) => type === 'user' || type === 'assistant' || type === 'finished');
    const isInterrupted = end !== undefined && end.type !== 'finished';
    if (this.#ports.host.local !== undefined && isInterrupted && this.ledger.openApprovals.size === 0)
      page.lines(['', style.yellow('The last run was interrupted. Send a message to continue.')]);
  }

  /** Sends a prompt. */
  say(content: readonly UserPart[]): void {
    const { page, style } = this.#ports;
    page.lines(['', ...promptLines(content, { style, shortens: true })]);
    this.#dialog.close();
    this.#follow((runId) => this.harness.prompt(content, { runId }));
  }

  /** Continues where the conversation stopped. */
  resume(): void {
    const answers = [...this.#answers].map(([approvalId, answer]) => ({ approvalId, ...answer }));
    this.#answers.clear();
    this.#follow((runId) => this.harness.resume({ answers, runId }));
  }

  /** Replaces older messages with a summary, which keeps what the words name. */
  compact(keep: string): void {
    const { page, style } = this.#ports;
    const { compactions, wasted } = this.ledger;
    const compact = keep === '' ? {} : { keep };
    const run = this.#follow((runId) => this.harness.resume({ compact, runId }));
    void run.result.then(({ status }) => {
      if (status !== 'complete' || this.ledger.compactions > compactions) return;
      const isFailed = this.ledger.wasted.inputTokens > wasted.inputTokens;
      const why = isFailed ? 'the summary failed' : 'only the last exchange is left, or compaction is off';
      page.lines([style.yellow(`Nothing was summarized: ${why}.`)]);
    });
  }

  /**
   * Sends a message during a run. If it runs here, the message is held until a response or a result arrives, because only
   * then can the next request contain it. Returns false if no turn will follow to read it.
   */
  steer(text: string): boolean {
    const isOwn = this.#run !== undefined && this.#run.id === this.#runId;
    if (this.#ports.host.local === undefined || this.#view === undefined || !isOwn || this.#isWaiting)
      return this.#send(text);
    this.#held.push(text);
    return true;
  }

  /** Returns the last message that the run has not received, and forgets it. */
  takeBack(): string | undefined {
    return this.#held.pop();
  }

  #send(text: string): boolean {
    if (!this.harness.steer(text)) return false;
    const { page, style } = this.#ports;
    this.#steered += 1;
    page.aside(['', style.dim(`↳ queued: ${visible(text)}`)]);
    return true;
  }

  #sendHeld(): void {
    const unsent = this.#held.splice(0).filter((text) => !this.#send(text));
    if (unsent.length > 0) this.#ports.onUnsent(unsent.join('\n'));
  }

  /** Returns a message that the run has ended without to the user. */
  unread(content: string | readonly UserPart[]): void {
    const { page, style } = this.#ports;
    this.#steered = Math.max(0, this.#steered - 1);
    page.aside([style.yellow('The run ended before it received your message.')]);
    this.#ports.onUnsent(typeof content === 'string' ? content : textOf({ role: 'user', content }));
    if (!this.isRunning) this.#ports.onRunEnd('cancelled');
  }

  /** Shows why the server refused a decision, and asks again if the question is still open. */
  refused(approvalId: string, reason: string): void {
    const { page, style, screen } = this.#ports;
    page.lines(wrap(visible(reason), screen.columns() - 3).map((line) => `  ${style.yellow(line)}`));
    const request = this.ledger.openApprovals.get(approvalId);
    if (request !== undefined) this.#ask(request);
  }

  /** Stops the run and withdraws the queued messages, which it returns. */
  cancel(): string {
    this.#dialog.close();
    const unsent = this.#held.splice(0).join('\n');
    this.#view?.stopping();
    if (this.harness.cancel()) return unsent;
    // The run belongs to another client, or its end was never received: only the view can stop.
    this.#view?.end('connection closed');
    this.#view = undefined;
    this.#run = undefined;
    this.#activity = [];
    this.#ports.onRunEnd('cancelled');
    return unsent;
  }

  /** Closes the view and cancels the active run. Resolves when no run is active. */
  leave(): Promise<void> {
    this.#dialog.close();
    const view = this.#view;
    this.#view = undefined;
    this.#run = undefined;
    view?.end('cancelled');
    return this.harness.close();
  }

  handle(event: RunEvent): void {
    if (isStored(event)) this.ledger.handle(event);
    switch (event.type) {
      case 'user':
        this.#showUserMessage(event);
        break;
      case 'approval_requested':
        this.#ask(event);
        break;
      case 'approval_decided':
        this.#dialog.withdraw(event.approvalId);
        break;
      case 'finished':
        return this.#handleFinished(event);
      default:
        ignore<'input' | 'response' | 'call' | 'note' | 'stream' | 'activity'>(event);
    }
    if (this.#view === undefined && !beginsRun(event)) return;
    this.#viewOf().event(event);
    if (event.type === 'tool_started') this.#isWaiting = event.waitUntil !== undefined;
    if (event.type === 'tool_result') this.#isWaiting = false;
    if (event.type === 'assistant' || event.type === 'tool_result' || this.#isWaiting) this.#sendHeld();
  }

  #showUserMessage(event: Extract<Event, { type: 'user' }>): void {
    const isOwn = event.steer === true ? this.#steered > 0 : event.runId === this.#runId;
    if (event.steer === true && isOwn) this.#steered -= 1;
    const { page, style } = this.#ports;
    if (!isOwn) page.lines(['', ...promptLines(event.content, { style, shortens: true })]);
  }

  #follow(start: (runId: string) => Run): Run {
    this.#steered = 0;
    // Set before the first event arrives, which can be immediately.
    this.#runId = systemRuntime.id();
    this.#ports.host.undo.begin(this.harness.sessionId, this.#runId);
    this.#viewOf();
    const run = start(this.#runId);
    this.#run = run;
    void run.result.then((result) => {
      if (this.#run !== run) return;
      // The run was rejected or lost, so no event reports its end.
      this.#close(result);
      // What was sent did not answer the open questions.
      if (result.status === 'failed')
        for (const request of this.ledger.openApprovals.values()) this.#ask(request);
    });
    return run;
  }

  #handleFinished(event: FinishedEvent): void {
    const { error, ...rest } = event;
    this.#close({ ...rest, ...defined({ error: error && new AgentError(error) }) });
  }

  #close(result: Parameters<typeof closingLines>[0]['result']): void {
    const { page, style, screen, host } = this.#ports;
    this.#view?.end(markOf(result.status));
    this.#view = undefined;
    this.#run = undefined;
    this.#activity = [];
    this.#isWaiting = false;
    this.#sendHeld();
    if (result.status !== 'waiting') this.#dialog.close();
    const task = {
      form: 'people',
      verbose: false,
      limits: host.limits,
      failure: host.failure,
      permission: { undecided: [], missingOptions: [] },
    } as const;
    if (result.status === 'complete') page.lines(['', this.#shortClosing(result)]);
    else if (result.status !== 'waiting' || !this.#dialog.open)
      page.lines(closingLines({ result, task, calls: this.#calls }, style, screen.columns()));
    // A waiting run continues with the decisions it has.
    if (result.status !== 'waiting') this.#calls = this.#newBook();
    this.#ports.onRunEnd(result.status);
  }

  #shortClosing({ metrics }: Pick<FinishedEvent, 'metrics'>): string {
    const { style } = this.#ports;
    const files = this.#calls.changes.size;
    const facts = [
      `${style.marks.ok} ${formatMs(metrics.durationMs)}`,
      ...(metrics.usd === undefined ? [] : [formatUsd(metrics.usd)]),
      ...(files === 0 ? [] : [`${plural(files, 'file')} changed`]),
    ];
    return style.dim(facts.join(` ${style.marks.dot} `));
  }

  #viewOf(): RunView {
    if (this.#view !== undefined) return this.#view;
    const { io, page, screen, style, host } = this.#ports;
    const terminal: Page = {
      text: (text) => page.text(text),
      lines: (lines) => page.lines(lines),
      close: () => page.close(),
      footer: (lines) => {
        this.#activity = lines;
        this.#ports.onChange();
      },
    };
    const look = { screen, style };
    this.#view = new RunView({
      io,
      terminal,
      calls: this.#calls,
      answer: look,
      report: look,
      model: host.model.name,
      quiet: false,
      verbose: false,
      folded: true,
      steady: true,
    });
    return this.#view;
  }

  #ask(request: ApprovalRequestedEvent): void {
    if (!this.#dialog.open) this.#askedAt = this.#ports.io.clock.now();
    this.#dialog.ask(request);
    this.#ports.onQuestion();
    this.#ports.onChange();
  }

  /** Sends a decision to the active run. One that waits, or of another client, continues when all decisions are made. */
  #answer(approvalId: string, answer: ApprovalDecision): void {
    this.#askedAt = this.#ports.io.clock.now();
    if (this.#run?.decide(approvalId, answer) === true) return;
    this.#answers.set(approvalId, answer);
    const open = [...this.ledger.openApprovals.keys()].filter((id) => !this.#answers.has(id));
    if (open.length === 0 && this.#run === undefined) this.resume();
  }

  #newBook(): ToolCallList {
    return new ToolCallList(this.#ports.host.known, this.steps);
  }

  #newDialog(): ApprovalDialog {
    const { host, page, screen, style } = this.#ports;
    return new ApprovalDialog({
      style,
      columns: () => screen.columns(),
      folder: host.place,
      show: (lines) => page.lines(['', ...lines]),
      answer: (approvalId, answer) => this.#answer(approvalId, answer),
      offers: (call) => host.local?.permission.offers(call) ?? [],
      allowAlways: (rule) => this.#keep(rule),
      onChange: () => this.#ports.onChange(),
    });
  }

  #keep(rule: string): void {
    const { host, page, style } = this.#ports;
    host.local?.permission.allow(rule);
    host.local?.keepRule(rule).then(
      (path) => page.aside([style.dim(`  saved in ${visible(path)}: ${visible(rule)}`)]),
      (error) =>
        page.aside([style.yellow(`  for this chat only: ${visible(AgentError.from(error).message)}`)]),
    );
  }
}

/** True if an event starts a view of a run started elsewhere; a late event does not. */
function beginsRun(event: RunEvent): boolean {
  if (isStored(event)) return event.type !== 'approval_decided';
  return event.type === 'started' || event.type === 'text_delta';
}
