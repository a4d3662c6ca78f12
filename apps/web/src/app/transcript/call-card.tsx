import type { ApprovalDecidedEvent, CallItem, CallStatus } from '@cobbler/agent/events';
import { callStatus, visibleText } from '@cobbler/agent/events';
import type { ComponentChildren, FunctionComponent, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Attachments } from '../parts/attachments.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { counted, duration, size } from '../parts/format.ts';
import { memoize, scrollArea, useNow } from '../parts/hooks.tsx';
import { marks, outcomeOf, resultText, statusName, subjectOf, timeOf } from '../session/call-text.ts';
import { filesIn } from '../session/changes.ts';
import { Branch, hasBranch } from './branch.tsx';
import { DiffCount, DiffText } from './diff-view.tsx';
import { Prose } from './prose.tsx';

interface CallProps {
  readonly call: CallItem;
  /** Calls that the user has opened or closed: this state must outlive their elements. */
  readonly opened: Map<string, boolean>;
}

/** A tool call: a line that expands to all its details. */
export const CallCard: FunctionComponent<CallProps> = memoize(({ call, opened }: CallProps) => {
  const { part } = call;
  const key = `${call.turn}.${call.index}.${part.id}`;
  const phase = callStatus(call);
  const [isOpen, set] = useState(opened.get(key) ?? false);
  const hasReason = phase === 'failed' || (phase === 'denied' && call.decision?.message !== undefined);
  const toggle = () => {
    opened.set(key, !isOpen);
    set(!isOpen);
  };
  return (
    <div class={`call ${phase}`} data-call={part.id}>
      <button type="button" class="call-line" aria-expanded={isOpen} onClick={toggle}>
        <span class="mark" role="img" aria-label={statusName(phase)}>
          {marks[phase]}
        </span>
        <span class="tool">{visibleText(part.toolName, 'name')}</span>
        <span class="subject">{subjectOf(call)}</span>
        <Outcome call={call} phase={phase} />
        <span class="chevron" aria-hidden="true" />
      </button>
      {hasBranch(call) && <Branch call={call} name={key} opened={opened} />}
      {!isOpen && hasReason && <Reason call={call} />}
      {isOpen && <CallDetails call={call} />}
    </div>
  );
});

function Outcome({ call, phase }: { readonly call: CallItem; readonly phase: CallStatus }): VNode {
  const diff = call.report?.diff !== undefined && phase === 'done' ? filesIn(call.report) : [];
  const [first] = diff;
  return (
    <span class="outcome">
      {first !== undefined && diff.length === 1 ? (
        <DiffCount added={first.added} removed={first.removed} />
      ) : (
        <span>{outcomeOf(call)}</span>
      )}
      {phase === 'running' && call.startedAt !== undefined ? (
        <Ticking since={Date.parse(call.startedAt)} />
      ) : (
        <span class="time">{timeOf(call)}</span>
      )}
    </span>
  );
}

/** The elapsed time of an activity. */
export function Ticking({ since }: { readonly since: number }): VNode {
  const now = useNow(1_000);
  return <span class="time">{duration(Math.max(0, Math.floor((now - since) / 1_000) * 1_000))}</span>;
}

const reasonLines = 6;

/** Matches lines in which programs report what went wrong. */
const telling = /^not ok|^FAIL|\berror\b|\bexpected\b|\bactual\b|\bpanic|exception|[✖✗×]/i;

/** The reason for a failed or denied call, always visible: the lines that report the error, otherwise the end of the output. */
function Reason({ call }: { readonly call: CallItem }): VNode | null {
  const lines = resultText(call)
    .split('\n')
    .filter((line) => line.trim() !== '' && line !== `[${call.report?.summary}]`);
  if (lines.length === 0) return null;
  const words = lines.filter((line) => telling.test(line));
  const shown = words.length === 0 ? lines.slice(-reasonLines) : words.slice(0, reasonLines);
  const left = lines.length - shown.length;
  return (
    <pre class="reason">
      {shown.join('\n').slice(0, 2_000)}
      {left > 0 && <span class="muted">{`\n⋯ ${counted(left, 'other line')}`}</span>}
    </pre>
  );
}

function CallDetails({ call }: { readonly call: CallItem }): VNode {
  const { report, part, approval, decision, result } = call;
  const diff = report?.diff ?? (report === undefined ? approval?.diff : undefined);
  const text = resultText(call);
  const plan = part.toolName === 'present_plan' ? planIn(part.arguments ?? {}) : undefined;
  const files = (report?.content ?? result?.content ?? []).filter(({ type }) => type !== 'text');
  return (
    <div class="call-details">
      {plan !== undefined && <Prose text={plan} />}
      <Arguments
        given={part.arguments ?? {}}
        hidden={[
          ...(diff === undefined ? [] : ['content', 'old_text', 'new_text']),
          ...(plan === undefined ? [] : ['plan']),
        ]}
      />
      {part.problem !== undefined && <p class="bad">Invalid arguments: {part.problem}</p>}
      {decision !== undefined && <p class="muted">{decisionText(decision)}</p>}
      {diff !== undefined && <DiffText text={diff} />}
      {text !== '' && <LongText name="Result" text={text} lines={30} />}
      <Attachments parts={files} />
      {report?.blobs?.map(({ id, bytes }) => (
        <p key={id} class="muted">
          Stored in full ({size(bytes)}) as blob {id}
        </p>
      ))}
    </div>
  );
}

function planIn({ plan }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof plan === 'string' ? plan : undefined;
}

function decisionText({ decision, message }: ApprovalDecidedEvent): string {
  return `${decisions[decision]}${message === undefined ? '.' : `: ${message}`}`;
}

const decisions: Readonly<Record<ApprovalDecidedEvent['decision'], string>> = {
  allow: 'Allowed by a user',
  deny: 'Denied by a user',
  expired: 'No decision in time',
  superseded: 'Superseded by a message',
};

interface ArgumentsProps {
  readonly given: Readonly<Record<string, unknown>>;
  /** The arguments that a diff already shows. */
  readonly hidden: readonly string[];
}

/** The arguments of a call by name; long ones in a separate block. */
function Arguments({ given, hidden }: ArgumentsProps): VNode | null {
  const entries = Object.entries(given).filter(([name]) => !hidden.includes(name));
  if (entries.length === 0) return null;
  return (
    <dl class="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: unknown): ComponentChildren {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <code class="value" {...scrollArea('Value')}>
      {text.length > 20_000 ? `${text.slice(0, 20_000)}…` : text}
    </code>
  );
}

interface LongTextProps {
  readonly text: string;
  /** The type of content, for the heading. */
  readonly name: string;
  /** Number of lines shown at first. */
  readonly lines: number;
}

/** Maximum number of characters to insert into the page, which would freeze with more. */
const maxCharacters = 400_000;

/** Plain text that is partly hidden until the user expands it. */
function LongText({ text, name, lines: maxLines }: LongTextProps): VNode {
  const [all, set] = useState(false);
  const trimmed = text.replace(/\n+$/, '');
  const lines = trimmed.split('\n');
  const left = all ? 0 : Math.max(0, lines.length - maxLines);
  const part = left === 0 ? trimmed : lines.slice(0, maxLines).join('\n');
  const shown = all ? part.slice(0, maxCharacters) : part.slice(0, 20_000);
  return (
    <div class="long-text">
      <div class="long-head">
        <span>{name}</span>
        <CopyButton text={() => text} />
      </div>
      <pre {...scrollArea(name)}>{shown}</pre>
      {(left > 0 || shown.length < part.length) && (
        <button type="button" class="quiet" onClick={() => set(true)}>
          {left > 0 ? `Show ${counted(left, 'more line')}` : 'Show all'}
        </button>
      )}
    </div>
  );
}
