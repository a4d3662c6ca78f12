import { stripVTControlCharacters } from 'node:util';
import type { ApprovalDecision } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, argumentLines, limitQuestion, visibleText } from '@cobbler/agent/events';
import type { RuledCall } from '../permissions/permission-rule.ts';
import { ruledCall } from '../permissions/permission-rule.ts';
import type { Key } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { clip, flow, splitText, widthOf, wrap } from '../terminal/text-width.ts';
import { moreLines, wholeDiffLines } from './diff-lines.ts';
import { askLine } from './tool-report.ts';

/** Callbacks of the approval dialog. */
export interface ApprovalPorts {
  readonly style: Style;
  columns(): number;
  /** The directory of the run, for commands. */
  readonly folder: string;
  /** Adds lines to the report. */
  show(lines: readonly string[]): void;
  answer(approvalId: string, answer: ApprovalDecision): void;
  allowAlways(rule: string): void;
  /** Returns the rules that can always allow a call, the narrowest first. */
  offers(call: RuledCall): readonly string[];
  /** How long a rule applies, as the words that follow it, such as ` in this run`. Default: for good. */
  readonly scope?: string;
  /** Called when the question, or the text being typed, has changed. */
  onChange(): void;
}

/** A rule that the user can always allow. */
interface RuleOffer {
  readonly key: string;
  readonly rule: string;
  /** The meaning of the key. */
  readonly words: string;
}

const offerKeys = ['a', 'p'];

/**
 * A call of up to this many lines is shown completely, because they fit on a screen of 24 rows together with the
 * question. A longer one is shown in parts, until the user has seen all of it.
 */
const maxWhole = 18;
const firstLines = 16;

/** Maximum number of rows of a subject in the question. A longer subject is shown among the lines of the call. */
const subjectRows = 3;

/** Maximum number of lines per key press; terminals keep about as many in their scrollback. */
const pageLines = 1000;

/**
 * Asks a user about calls, one at a time. The question remains on the screen; {@link ApprovalDialog.footer} returns
 * the footer with the keys. A call can be allowed only after all of it was shown.
 */
export class ApprovalDialog {
  readonly #ports: ApprovalPorts;
  readonly #waiting: ApprovalRequestedEvent[] = [];
  readonly #always = new Set<string>();
  /** The first line of the call that has not been shown; undefined when all have. */
  #next: number | undefined;
  /** True once the question is on the screen: what could not be shown can only be denied. */
  #isShown = false;
  /** All lines of the current call. */
  #lines: readonly string[] = [];
  /** The reason being typed; undefined while keys decide. */
  #reason: string | undefined;

  constructor(ports: ApprovalPorts) {
    this.#ports = ports;
  }

  get open(): boolean {
    return this.#waiting.length > 0;
  }

  /** Asks about a call after those that are already waiting. */
  ask(request: ApprovalRequestedEvent): void {
    this.#waiting.push(request);
    if (this.#waiting.length === 1) this.#present();
  }

  /** True if a reason is being typed, so that every key belongs to it. */
  get isTyping(): boolean {
    return this.#reason !== undefined;
  }

  /** Removes the question about a call that another user has decided. */
  withdraw(approvalId: string): void {
    const place = this.#waiting.findIndex((request) => request.approvalId === approvalId);
    if (place === -1) return;
    this.#waiting.splice(place, 1);
    if (place > 0) return;
    this.#reason = undefined;
    this.#present();
  }

  /** Removes all questions, because the run has ended or is being stopped. */
  close(): void {
    this.#waiting.length = 0;
    this.#reason = undefined;
  }

  /** Returns the footer while a question is open. */
  footer(): string[] {
    const [request] = this.#waiting;
    if (request === undefined) return [];
    const { style } = this.#ports;
    const width = this.#ports.columns() - 5;
    if (this.#reason !== undefined) {
      const hint = `${style.marks.dot} Enter denies, Esc goes back`;
      const typed = `deny because: ${this.#reason}`;
      // Keep the end of a long reason visible, because the cursor is there.
      const tail = typed.length > width - 32 ? typed.slice(Math.max(0, typed.length - (width - 32))) : typed;
      return [`    ${clip(`${tail}_ ${hint}`, width, style.marks.ellipsis)}`];
    }
    const words = answerWords(request);
    const deciding: readonly (readonly [key: string, words: string])[] = !this.#isShown
      ? [['', 'This call could not be shown.']]
      : this.#next === undefined
        ? [
            ['y', words.allow],
            ...this.#offers(request).map(({ key, words }) => [key, oneLine(words)] as const),
          ]
        : [['d', this.#next === 0 ? 'show all of it, then allow' : 'show more of it, then allow']];
    const reason = request.limit === undefined ? [['e', 'deny with a reason']] : [];
    const keys = [...deciding, ['n', words.deny], ...reason];
    return flow(
      keys.map((pair) => pair.join(' ').trim()),
      '   ',
      width,
    ).map((line) => `    ${clip(line, width, style.marks.ellipsis)}`);
  }

  /** Processes a key. Keys without a meaning have no effect: there is no default. */
  key(key: Key): void {
    const [request] = this.#waiting;
    if (request === undefined) return;
    if (this.#reason !== undefined) this.#type(request, this.#reason, key);
    else if (key.type === 'text') this.#choose(request, key.text.toLowerCase());
  }

  /** True if the letter has a meaning now. `y` always belongs to the question, so that it never begins a message. */
  accepts(letter: string): boolean {
    const [request] = this.#waiting;
    if (request === undefined) return false;
    const reason = request.limit === undefined ? ['e'] : [];
    if (!this.#isShown) return ['n', ...reason].includes(letter.toLowerCase());
    const deciding = this.#next === undefined ? this.#offers(request).map(({ key }) => key) : ['d'];
    return ['y', 'n', ...reason, ...deciding].includes(letter.toLowerCase());
  }

  #choose(request: ApprovalRequestedEvent, letter: string): void {
    if (!this.accepts(letter)) return;
    const offer = this.#offers(request).find(({ key }) => key === letter);
    if (letter === 'y') {
      if (this.#next === undefined) this.#decide(request, { decision: 'allow' });
    } else if (letter === 'n') this.#decide(request, { decision: 'deny' });
    else if (offer !== undefined) {
      this.#always.add(offer.rule);
      this.#ports.allowAlways(offer.rule);
      this.#decide(request, { decision: 'allow' });
    } else if (letter === 'e') {
      this.#reason = '';
      this.#ports.onChange();
    } else if (letter === 'd') {
      this.#show(this.#next ?? 0, pageLines);
      this.#ports.onChange();
    }
  }

  #type(request: ApprovalRequestedEvent, reason: string, key: Key): void {
    if (key.type === 'enter') {
      const message = reason.trim();
      return this.#decide(request, { decision: 'deny', ...(message !== '' && { message }) });
    }
    if (key.type === 'escape') this.#reason = undefined;
    else if (key.type === 'backspace') this.#reason = Array.from(reason).slice(0, -1).join('');
    else if (key.type === 'text') this.#reason = reason + key.text;
    this.#ports.onChange();
  }

  #decide(request: ApprovalRequestedEvent, answer: ApprovalDecision): void {
    this.#waiting.shift();
    this.#reason = undefined;
    this.#ports.answer(request.approvalId, answer);
    this.#present();
    this.#ports.onChange();
  }

  /** Shows the next question, skipping those that an "always" has answered in the meantime. */
  #present(): void {
    for (;;) {
      const [request] = this.#waiting;
      if (request === undefined) return;
      if (!this.#offers(request).some(({ rule }) => this.#always.has(rule))) {
        this.#isShown = false;
        this.#lines = this.#linesOf(request);
        const isLong = this.#lines.length > maxWhole;
        this.#show(0, isLong ? firstLines : maxWhole, this.#question(request));
        // A user who wants to see all of it wants to read it in one piece.
        this.#next = isLong ? 0 : undefined;
        this.#isShown = true;
        return;
      }
      this.#waiting.shift();
      this.#ports.answer(request.approvalId, { decision: 'allow' });
    }
  }

  #offers(request: ApprovalRequestedEvent): readonly RuleOffer[] {
    const { offers, scope = '' } = this.#ports;
    if (request.limit !== undefined) return [];
    const rules = offers(ruledCall(request)).slice(0, offerKeys.length);
    return rules.map((rule, index) => ({
      key: offerKeys[index] ?? '',
      rule,
      words: `always ${rule}${scope}`,
    }));
  }

  #question(request: ApprovalRequestedEvent): string[] {
    const { style, folder } = this.#ports;
    const columns = this.#ports.columns();
    if (request.limit !== undefined)
      return wrap(approvalText(request), columns - 6).map((line, index) =>
        index === 0 ? `  ${style.marks.ask} ${line}` : `    ${line}`,
      );
    const inFolder = request.toolName === 'run_command' ? `in ${folder}` : '';
    const summary = request.summary?.replace(/\bin the workspace$/, inFolder) ?? inFolder;
    const call = {
      toolName: visibleText(request.toolName, 'name'),
      subject: clip(visibleText(subjectOf(request), 'name'), this.#subjectWidth, style.marks.ellipsis),
    };
    const view = { style, columns, verbose: false };
    const line = askLine({ ...call, summary }, view);
    const why = wrap(oneLine(request.mustAsk ?? ''), columns - 7).map((row) => `      ${style.yellow(row)}`);
    if (summary === '' || widthOf(stripVTControlCharacters(line)) < columns) return [line, ...why];
    return [askLine(call, view), `      ${style.dim(oneLine(summary))}`, ...why];
  }

  get #subjectWidth(): number {
    return subjectRows * this.#ports.columns();
  }

  /** Shows some lines of a call, and how many remain. */
  #show(from: number, maxLines: number, before: readonly string[] = []): void {
    const lines = this.#lines;
    const end = from + maxLines;
    const left = lines.length - end;
    const more = left > 0 ? [this.#ports.style.dim(moreLines(left))] : [];
    this.#ports.show([...before, ...[...lines.slice(from, end), ...more].map((line) => `      ${line}`)]);
    this.#next = left > 0 ? end : undefined;
  }

  /** Returns everything about a call that its question does not show: its diff, and the arguments outside the diff. */
  #linesOf(request: ApprovalRequestedEvent): string[] {
    const { style } = this.#ports;
    const width = this.#ports.columns() - 7;
    const diff = request.diff === undefined ? [] : wholeDiffLines(request.diff, style, width);
    if (isInQuestion(request)) return diff;
    const { subject = '' } = request;
    const isCut = widthOf(visibleText(subject, 'name')) > this.#subjectWidth;
    const given = argumentLines(request, isCut || verbatimText(subject) === '' ? [] : [subject]);
    if (isCut && !Object.values(request.arguments).includes(subject))
      given.unshift(visibleText(subject, 'name'));
    const room = Math.max(8, width);
    return [
      ...diff,
      ...given.flatMap((line) => splitText(line.replaceAll('\t', '    '), room).map(style.dim)),
    ];
  }
}

function answerWords({ limit }: ApprovalRequestedEvent): { readonly allow: string; readonly deny: string } {
  if (limit === undefined) return { allow: 'allow', deny: 'deny' };
  const { allow, deny } = limitQuestion(limit);
  return { allow: allow.toLowerCase(), deny: deny.toLowerCase() };
}

/** Returns the text of the question: the subject, or all arguments of a tool without one. */
function subjectOf(request: ApprovalRequestedEvent): string {
  if (request.subject !== undefined && request.subject !== '') return request.subject;
  return isInQuestion(request) ? JSON.stringify(request.arguments) : '';
}

/** Maximum length of the arguments that the question itself shows, in characters. */
const maxQuestion = 200;

function isInQuestion({ subject = '', arguments: given, ...more }: ApprovalRequestedEvent): boolean {
  if (more.after !== undefined || more.isRepeated === true) return false;
  const json = JSON.stringify(given);
  const isOneLine = json.length <= maxQuestion && !json.includes('\\n') && verbatimText(json) !== '';
  return subject === '' && isOneLine;
}

/** Returns the text if the question shows every character of it; otherwise undefined. */
function verbatimText(text: string): string {
  return visibleText(text, 'name') === text && oneLine(text) === text ? text : '';
}
