import type { CallItem } from '@cobbler/agent/events';
import { limitQuestion, visibleText } from '@cobbler/agent/events';
import type { RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { focusMessage } from '../composer/composer.tsx';
import { duration } from '../parts/format.ts';
import { scrollArea, useNow } from '../parts/hooks.tsx';
import { DiffText } from './diff-view.tsx';
import type { Proposal } from './proposal.ts';
import { proposalOf } from './proposal.ts';

interface ApprovalProps {
  readonly call: CallItem;
  /** Number of other approvals waiting. */
  readonly others: number;
  readonly answer: (
    call: CallItem,
    decision: 'allow' | 'deny',
    message?: string,
    always?: string,
  ) => Promise<void>;
  /** Returns the rules with which the user may allow such calls from now on. */
  readonly rules: (approvalId: string) => Promise<readonly string[]>;
  /** Continues the run if it is too late to decide. */
  readonly resume: () => void;
}

/** A request for approval of one call, which shows exactly what the call would do. Each approval needs its own card. */
export function ApprovalCard({ call, others, answer, rules, resume }: ApprovalProps): VNode | null {
  const { approval } = call;
  const [isSending, setSending] = useState(false);
  const [isDenying, setDenying] = useState(false);
  const now = useNow(1_000, approval?.expiresAt !== undefined);
  const isLate = approval?.expiresAt !== undefined && approval.expiresAt <= now;
  const proposal = useMemo(() => (approval === undefined ? undefined : proposalOf(approval)), [approval]);
  const body = useRef<HTMLDivElement>(null);
  const isSeen = useSeenToEnd(body);
  const send = async (decision: 'allow' | 'deny', message?: string, always?: string) => {
    if (isSending || isLate || (decision === 'allow' && !(isSeen && proposal?.isWhole === true))) return;
    setSending(true);
    try {
      await answer(call, decision, message, always);
    } catch {
      // The caller shows the error; the user can try again.
      setSending(false);
    }
  };
  const card = useRef<HTMLElement>(null);
  const [ruleView, setRuleView] = useState('');
  const isSettled = useSettled(`${isSeen} ${ruleView}`);
  const isBlocked = isSending || !isSettled;
  useApprovalKeys({
    y: () => void send('allow'),
    d: () => showMore(body.current),
    n: () => void send('deny'),
    e: () => setDenying(approval?.limit === undefined),
  });
  useCardFocus(card, isSeen);
  if (approval === undefined || proposal === undefined) return null;
  const limit = approval.limit && limitQuestion(approval.limit);
  return (
    <section
      ref={card}
      class="approval"
      tabIndex={-1}
      aria-label="Approval needed"
      data-approval={approval.approvalId}
    >
      <header>
        <span class="ask-mark" aria-hidden="true">
          ?
        </span>
        <h2>
          {limit === undefined ? (
            <>
              Allow <code>{visibleText(approval.toolName, 'name')}</code>
            </>
          ) : (
            'Limit reached'
          )}
        </h2>
        <span class="ask-subject">{visibleText(approval.summary ?? '', 'name')}</span>
        {others > 0 && <span class="muted small">and {others} more</span>}
        <Expiry at={approval.expiresAt} now={now} />
      </header>
      <div class="approval-body" ref={body} {...scrollArea('The call')}>
        {approval.mustAsk !== undefined && <p class="bad">{visibleText(approval.mustAsk, 'name')}</p>}
        <ProposalView proposal={proposal} />
      </div>
      {isLate ? (
        <footer>
          <span class="muted">No decision was made in time.</span>
          <button type="button" class="primary" onClick={resume}>
            Continue without it
          </button>
        </footer>
      ) : isDenying ? (
        <DenyForm
          send={(message) => void send('deny', message)}
          end={() => setDenying(false)}
          isSending={isSending}
        />
      ) : (
        <footer>
          <button type="button" disabled={isBlocked} onClick={() => void send('deny')}>
            {limit?.deny ?? 'Deny'} <kbd>n</kbd>
          </button>
          {limit === undefined && (
            <button type="button" disabled={isSending} onClick={() => setDenying(true)}>
              Deny with a reason <kbd>e</kbd>
            </button>
          )}
          {proposal.isWhole && !isSeen && (
            <button type="button" class="primary" onClick={() => showMore(body.current)}>
              Show more, then allow <kbd>d</kbd>
            </button>
          )}
          {proposal.isWhole && isSeen && (
            <button type="button" class="primary" disabled={isBlocked} onClick={() => void send('allow')}>
              {isSending ? 'Sending…' : (limit?.allow ?? 'Allow once')} <kbd>y</kbd>
            </button>
          )}
        </footer>
      )}
      {!isLate && !isDenying && proposal.isWhole && isSeen && limit === undefined && (
        <RuleList
          rules={() => rules(approval.approvalId)}
          isBlocked={isBlocked}
          changed={setRuleView}
          keep={(rule) => void send('allow', undefined, rule)}
        />
      )}
    </section>
  );
}

interface RuleListProps {
  readonly rules: () => Promise<readonly string[]>;
  readonly isBlocked: boolean;
  /** Called when the list appears, opens or closes, because this moves all buttons. */
  readonly changed: (view: 'closed' | 'open') => void;
  readonly keep: (rule: string) => void;
}

/** The rules that can be saved with the decision, each shown completely before it is. */
function RuleList({ rules, isBlocked, changed, keep }: RuleListProps): VNode | null {
  const [offered, setOffered] = useState<readonly string[]>([]);
  // Without them, the call can still be allowed once. Each approval has its own card.
  useEffect(() => void rules().then(setOffered, () => undefined), []);
  useLayoutEffect(() => {
    if (offered.length > 0) changed('closed');
  }, [offered]);
  if (offered.length === 0) return null;
  return (
    <details class="rules" onToggle={({ currentTarget }) => changed(currentTarget.open ? 'open' : 'closed')}>
      <summary>Always allow…</summary>
      {offered.map((rule) => (
        <div key={rule}>
          <pre class="command">{visibleText(rule)}</pre>
          <button type="button" disabled={isBlocked} onClick={() => keep(rule)}>
            Save this rule and allow
          </button>
        </div>
      ))}
    </details>
  );
}

/** True once the user has scrolled to the end of a call that is higher than its box, and always for a shorter one. */
function useSeenToEnd(box: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    // Scroll positions can be fractions.
    const look = () => {
      if (current.scrollTop + current.clientHeight > current.scrollHeight - 2) setSeen(true);
    };
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(current);
    current.addEventListener('scroll', look);
    return () => {
      sizes.disconnect();
      current.removeEventListener('scroll', look);
    };
  }, [box]);
  return isSeen;
}

/** Gives the focus to the card when it appears, and to the message afterwards. */
function useCardFocus(card: RefObject<HTMLElement | null>, isSeen: boolean): void {
  useEffect(() => {
    // A user who is typing keeps the focus; otherwise the keys of the card work immediately.
    if (!isWriting(document.activeElement)) card.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    // The focus of a button that was replaced.
    if (document.activeElement === document.body) card.current?.focus({ preventScroll: true });
  }, [isSeen]);
  useLayoutEffect(() => {
    const { current } = card;
    // Otherwise the focus would be lost after the decision.
    return () => void (current?.contains(document.activeElement) === true && focusMessage());
  }, []);
}

function showMore(body: HTMLElement | null): void {
  body?.scrollBy({ top: body.clientHeight * 0.9 });
}

/** The complete call: its diff, its command, and every other argument. */
function ProposalView({ proposal }: { readonly proposal: Proposal }): VNode {
  const { diff, command, plan, text, isWhole } = proposal;
  return (
    <>
      {!isWhole && (
        <p class="bad">
          This call is too long to show here, so you can only deny it. To see all of it and allow it, use a
          terminal: <code>cobbler approve</code>
        </p>
      )}
      {diff !== undefined && <DiffText text={diff} />}
      {command !== undefined && <pre class="command">{command}</pre>}
      {plan !== undefined && <PlanText lines={plan} />}
      {text !== '' && <pre class="command">{text}</pre>}
      {diff === undefined && command === undefined && plan === undefined && text === '' && (
        <p class="muted">No arguments.</p>
      )}
    </>
  );
}

/** A plan to read, with all its characters: Markdown changes only how its lines look. */
function PlanText({ lines }: { readonly lines: readonly string[] }): VNode {
  let isCode = false;
  const kindOf = (line: string): string => {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence || isCode || /^\s*\|/.test(line)) return 'mono';
    return /^#{1,6} /.test(line) ? 'heading' : '';
  };
  return (
    <div class="plan">
      {lines.map((line, at) => (
        <div key={at} class={kindOf(line)}>
          {line === '' ? '\n' : line}
        </div>
      ))}
    </div>
  );
}

function Expiry({ at, now }: { readonly at: number | undefined; readonly now: number }): VNode | null {
  if (at === undefined) return null;
  const left = at - now;
  return (
    <span class={`expiry small${left < 60_000 ? ' bad' : ' muted'}`}>
      {left > 0 ? `expires in ${duration(Math.ceil(left / 1_000) * 1_000)}` : 'expired'}
    </span>
  );
}

interface DenyProps {
  readonly send: (message: string) => void;
  readonly end: () => void;
  readonly isSending: boolean;
}

function DenyForm({ send, end, isSending }: DenyProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      class="deny"
      onSubmit={(event) => {
        event.preventDefault();
        send(field.current?.value.trim() ?? '');
      }}
    >
      <input
        ref={field}
        aria-label="Message for the model"
        placeholder="Message for the model, such as: use the test directory instead"
        onKeyDown={(event) => {
          if (event.key === 'Escape') end();
        }}
      />
      <button type="button" onClick={end}>
        Back
      </button>
      <button type="submit" class="danger" disabled={isSending}>
        Deny
      </button>
    </form>
  );
}

/** Time after a question appears in which input has no effect, because it was meant for something else, in milliseconds. */
const settleMs = 400;

/** False for a moment after something that moves the buttons, such as the appearance of the card. */
function useSettled(mark: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(mark), settleMs);
    return () => clearTimeout(timer);
  }, [mark]);
  return settled === mark;
}

/** Handles the keys while the user is not typing. */
function useApprovalKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const from = performance.now() + settleMs;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isField(event.target)) return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (act === undefined || performance.now() < from) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function isWriting(element: EventTarget | null): boolean {
  return isField(element) && (element as HTMLInputElement).value !== '';
}

/** True if keys go to a field or a dialog. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    document.querySelector('dialog[open]') !== null
  );
}
