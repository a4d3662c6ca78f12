import type { VNode } from 'preact';
import { counted } from './format.ts';

interface Bar {
  /** The event to navigate to. */
  readonly key: number;
  /** The stacked values of the bar. */
  readonly values: readonly number[];
  readonly words: string;
}

interface ChartProps {
  readonly bars: readonly Bar[];
  /** The meaning of the values, in their order. */
  readonly kinds: readonly string[];
  readonly format: (value: number) => string;
}

const [width, height] = [360, 96] as const;

/** Maximum number of bars; if there are more, neighboring ones are added up. */
const maxBars = 120;

/** A chart of stacked bars. */
export function BarChart({ bars: given, kinds, format }: ChartProps): VNode {
  const bars = merged(given);
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const top = Math.max(...sums, Number.EPSILON);
  const step = Math.min(24, width / bars.length);
  return (
    <figure class="chart" aria-label={`${counted(bars.length, 'bar')}, highest ${format(top)}`}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <line x1="0" y1="0.5" x2={width} y2="0.5" class="grid" />
        <line x1="0" y1={height / 2} x2={width} y2={height / 2} class="grid" />
        {bars.map(({ key, values, words }, index) => (
          <a key={key} class="bar" href={`#e${key}`} tabindex={-1}>
            <title>{words}</title>
            <rect x={index * step} y="0" width={step} height={height} class="touch" />
            {stacked(values, top).map(({ y, h }, part) => (
              <rect
                key={part}
                class={`part-${kinds[part]}`}
                x={index * step + step * 0.1}
                y={y}
                width={step * 0.8}
                height={h}
              />
            ))}
          </a>
        ))}
      </svg>
      <figcaption class="muted small">
        <span>top {format(top)}</span>
        {kinds.length > 1 &&
          kinds.map((kind) => (
            <span key={kind} class={`key key-${kind}`}>
              {kind}
            </span>
          ))}
      </figcaption>
    </figure>
  );
}

function stacked(values: readonly number[], top: number): { y: number; h: number }[] {
  let y = height;
  return values.map((value) => {
    const h = (value / top) * (height - 1);
    y -= h;
    return { y, h };
  });
}

function merged(bars: readonly Bar[]): readonly Bar[] {
  return neighbors(bars, maxBars).map(([first, ...others]) => {
    const last = others.at(-1);
    if (last === undefined) return first;
    const values = first.values.map((value, part) =>
      others.reduce((sum, bar) => sum + (bar.values[part] ?? 0), value),
    );
    return { key: first.key, values, words: `${first.words} … ${last.words}` };
  });
}

/** Returns at most this many groups of neighboring values, which all have the same size, except the last. */
export function neighbors<Value>(values: readonly Value[], most: number): [Value, ...Value[]][] {
  const size = Math.ceil(values.length / most);
  const groups: [Value, ...Value[]][] = [];
  for (let at = 0; at < values.length; at += size) {
    const [first, ...others] = values.slice(at, at + size);
    if (first !== undefined) groups.push([first, ...others]);
  }
  return groups;
}
