import type { LiveBlock, LiveResponse, PendingRetry } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { duration } from '../parts/format.ts';
import { useNow } from '../parts/hooks.tsx';
import { Ticking } from './call-card.tsx';
import { Reasoning } from './item-view.tsx';
import { GrowingProse } from './prose.tsx';

interface LiveProps {
  readonly live: LiveResponse;
  /** Start of the run in ISO 8601. */
  readonly since: string;
}

/** The current response. It becomes an item once it is stored. */
export function LiveView({ live, since }: LiveProps): VNode {
  const isSilent = live.blocks.every(({ kind }) => kind === 'call');
  return (
    <article class="item answer live" aria-label="Response in progress" aria-busy="true">
      {live.blocks.map((block) => (
        <BlockView key={block.index} block={block} />
      ))}
      {(isSilent || live.retry !== undefined) && <CurrentActivity live={live} since={since} />}
    </article>
  );
}

function BlockView({ block }: { readonly block: LiveBlock }): VNode | null {
  const text = block.cut ? `… ${block.text}` : block.text;
  if (block.kind === 'text') return <GrowingProse text={text} />;
  if (block.kind === 'reasoning') return <Reasoning text={text} isLive={!block.done} />;
  return (
    <div class="call proposed">
      <div class="call-line">
        <span class="mark">·</span>
        <span class="tool">{block.text === '' ? 'a tool' : block.text}</span>
        <span class="subject muted">{block.done ? '' : 'in progress'}</span>
      </div>
    </div>
  );
}

function CurrentActivity({ live, since }: LiveProps): VNode {
  const { retry, state, message } = live;
  if (retry !== undefined) return <Retrying key={retry.attempt} {...retry} />;
  const word =
    message ?? (state === 'running_tool' ? 'running' : state === 'waiting' ? 'waiting' : 'thinking');
  return (
    <p class="doing">
      <span class="spinner" aria-hidden="true" /> {word} <Ticking since={Date.parse(since)} />
    </p>
  );
}

/** A countdown to the next attempt, from the time when it was first shown. */
function Retrying({ attempt, reason, delayMs, leftMs }: PendingRetry): VNode {
  const now = useNow(1_000);
  const [since] = useState(now);
  const waitMs = secondsLeft(since + delayMs - now);
  return (
    <p class="doing warn">
      <span class="spinner" aria-hidden="true" /> {reason} · attempt {attempt} failed, retry in{' '}
      {duration(waitMs)}
      {leftMs !== undefined && `, gives up in ${duration(secondsLeft(since + delayMs + leftMs - now))}`}
    </p>
  );
}

function secondsLeft(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1_000)) * 1_000;
}
