import type { CostRow } from '@cobbler/agent/store';
import { totalCosts } from '@cobbler/agent/store';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { neighbors } from '../parts/bar-chart.tsx';
import { counted, money } from '../parts/format.ts';
import { costText, dayText } from './cost-text.ts';

/** Maximum number of bars; if there are more days, neighboring ones are added up. */
const maxBars = 100;

const height = 100;

interface ChartProps {
  /** Without gaps, the earliest first. */
  readonly days: readonly CostRow[];
}

/** A chart of the costs of each day. The arrow keys select a bar, and screen readers read it as a slider. */
export function CostChart({ days }: ChartProps): VNode {
  const together = Math.ceil(days.length / maxBars);
  const bars = useMemo(() => neighbors(days, maxBars).map(addedUp), [days]);
  const [selected, select] = useState<number>();
  const at = Math.min(selected ?? bars.length - 1, bars.length - 1);
  const top = niceTop(Math.max(...bars.map(({ usd }) => usd)));
  const shown = selected === undefined ? undefined : bars[at];
  return (
    <figure class="cost-chart">
      <figcaption>
        {shown === undefined ? `Cost per ${together === 1 ? 'day' : `${together} days`}` : textOf(shown)}
        {bars.some(({ unpriced }) => unpriced > 0) && <span class="key-unpriced">without a known price</span>}
      </figcaption>
      <div class="scale" aria-hidden="true">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{money(value)}</span>
        ))}
      </div>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label="Day in the chart"
        aria-valuemin={0}
        aria-valuemax={bars.length - 1}
        aria-valuenow={at}
        aria-valuetext={bars[at] === undefined ? '' : textOf(bars[at])}
        onKeyDown={(event) => {
          const next = moved(event.key, at, bars.length);
          if (next === undefined) return;
          event.preventDefault();
          select(next);
        }}
        onFocus={() => select(at)}
        onBlur={() => select(undefined)}
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          select(
            Math.min(Math.max(Math.floor(((clientX - left) / width) * bars.length), 0), bars.length - 1),
          );
        }}
        onPointerLeave={() => select(undefined)}
      >
        <svg viewBox={`0 0 ${bars.length} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map((bar, index) => (
            <Bar key={bar.key} bar={bar} index={index} top={top} isSelected={bar === shown} />
          ))}
        </svg>
      </div>
      <div class="ends" aria-hidden="true">
        <span>{dayText(bars[0])}</span>
        <span>{dayText(bars.at(-1), 'last')}</span>
      </div>
    </figure>
  );
}

interface BarProps {
  readonly bar: CostRow;
  readonly index: number;
  readonly top: number;
  readonly isSelected: boolean;
}

function Bar({ bar: { usd, unpriced }, index, top, isSelected }: BarProps): VNode {
  // A cost above zero is at least visible.
  const high = usd === 0 ? 0 : Math.max((usd / top) * height, 0.8);
  return (
    <>
      {isSelected && <rect class="selected" x={index} y="0" width="1" height={height} />}
      <rect class="amount" x={index + 0.14} y={height - high} width="0.72" height={high} />
      {unpriced > 0 && <rect class="unpriced" x={index + 0.14} y={height - 3} width="0.72" height="3" />}
    </>
  );
}

function textOf(bar: CostRow): string {
  const [first, last] = [dayText(bar), dayText(bar, 'last')];
  const days = first === last ? first : `${first} – ${last}`;
  return `${days}: ${costText(bar)}, ${counted(bar.requests, 'request')}`;
}

function moved(key: string, at: number, count: number): number | undefined {
  const to = {
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    Home: 0,
    End: count - 1,
  };
  const next = Object.hasOwn(to, key) ? to[key as keyof typeof to] : undefined;
  return next === undefined ? undefined : Math.min(Math.max(next, 0), count - 1);
}

function addedUp(group: readonly [CostRow, ...CostRow[]]): CostRow {
  const [first] = group;
  return { ...first, ...totalCosts(group), last: group.at(-1)?.last ?? first.last };
}

/** Returns a round number that is not below the value, for the scale. */
function niceTop(value: number): number {
  if (value === 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return unit * ([1, 2, 4, 5, 10].find((factor) => unit * factor >= value) ?? 10);
}
