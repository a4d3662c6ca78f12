import type { CallItem } from '@cobbler/agent/events';
import { callStatus, visibleText } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { counted, money, tokens } from '../parts/format.ts';
import { costOf } from '../session/call-text.ts';
import { Prose } from './prose.tsx';

/** True if the call is or was the work of a sub-agent. */
export function hasBranch({ part, steps }: CallItem): boolean {
  return steps !== undefined || (part.toolName === 'agent' && typeof part.arguments?.['task'] === 'string');
}

interface BranchProps {
  readonly call: CallItem;
  readonly name: string;
  /** Branches that the user has opened or closed. */
  readonly opened: Map<string, boolean>;
}

/** What a sub-agent did: its steps, model and cost. Open while it works; later, only if the user opens it. */
export function Branch({ call, name, opened }: BranchProps): VNode | null {
  const { steps = [] } = call;
  const key = `${name} steps`;
  const status = callStatus(call);
  const [isLive] = useState(status === 'proposed' || status === 'running');
  const [isOpen] = useState(opened.get(key) ?? isLive);
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const { current } = list;
    if (current !== null && status === 'running') current.scrollTop = current.scrollHeight;
  }, [steps.length]);
  if (steps.length === 0 && !isLive) return null;
  const { models, usd, isPartial, count } = costOf(call);
  const facts = [
    counted(steps.length, 'step'),
    ...models,
    ...(count > 0 ? [`${tokens(count)} tokens`] : []),
    ...(usd > 0 ? [`${money(usd)}${isPartial ? '+' : ''}`] : []),
  ];
  const labels = steps.map(({ called, text }) => `${called ?? ''} ${text}`);
  const failed = new Set(labels.filter((_, at) => steps[at]?.isError === true));
  return (
    <details
      class={`branch${isLive ? ' growing' : ''}`}
      open={isOpen}
      onToggle={({ currentTarget }) => opened.set(key, currentTarget.open)}
    >
      <summary class="muted small">{facts.join(' · ')}</summary>
      <ul ref={list} class="branch-list">
        {steps.map(({ seq, text, called, isError }, at) => {
          const label = labels[at] ?? '';
          // The failure of a call is shown at the call.
          if (isError === true && labels.indexOf(label) < at) return null;
          if (called === undefined)
            return (
              <li key={seq}>
                <Prose text={text} />
              </li>
            );
          return (
            <li key={seq}>
              <code>{visibleText(label, 'name')}</code>
              {failed.has(label) && <span class="bad small"> failed</span>}
            </li>
          );
        })}
      </ul>
    </details>
  );
}
