import type { RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { ignore, spendingOf } from '@cobbler/agent/events';

/** Label names and values that identify one series of a metric. */
type Labels = Readonly<Record<string, string>>;

interface MetricCounter {
  readonly help: string;
  /** Values by the text of their labels. */
  readonly values: Map<string, number>;
}

/** Durations recorded under the same labels. */
interface HistogramData {
  readonly labels: Labels;
  /** Count per bucket; the last one has no upper bound. */
  readonly counts: number[];
  sum: number;
}

interface Histogram {
  readonly help: string;
  readonly spreads: Map<string, HistogramData>;
}

/** Upper bounds of the buckets of a duration, in seconds. */
const buckets: readonly number[] = [0.005, 0.025, 0.1, 0.5, 2.5, 10];

/** Maximum number of series of one metric. The rest, such as tools that a model invents, is counted as one without labels. */
const maxSeries = 500;

/** The metrics of the server, in the Prometheus text format. */
export class Meters {
  readonly #counters = new Map<string, MetricCounter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #gauges: { readonly name: string; readonly help: string; read(): number }[] = [];

  count(name: string, help: string, labels: Labels = {}, by = 1): void {
    const { values } = getOrCreate(this.#counters, name, () => ({ help, values: new Map<string, number>() }));
    const key = textOf(labels);
    const place = values.has(key) || values.size < maxSeries ? key : '';
    values.set(place, (values.get(place) ?? 0) + by);
  }

  /** Records a duration in seconds. The labels must have few different values. Called for every request. */
  observe(name: string, help: string, labels: Labels, seconds: number): void {
    const { spreads } = getOrCreate(this.#histograms, name, () => ({
      help,
      spreads: new Map<string, HistogramData>(),
    }));
    const spread = getOrCreate(spreads, textOf(labels), () => ({
      ...{ labels, sum: 0 },
      counts: new Array<number>(buckets.length + 1).fill(0),
    }));
    const at = buckets.findIndex((bound) => seconds <= bound);
    const bucket = at === -1 ? buckets.length : at;
    spread.counts[bucket] = (spread.counts[bucket] ?? 0) + 1;
    spread.sum += seconds;
  }

  /** Registers a value that is read on request. */
  gauge(name: string, help: string, read: () => number): void {
    this.#gauges.push({ name, help, read });
  }

  /** Computes metrics from the events of runs. */
  handle(event: RunEvent): void {
    switch (event.type) {
      case 'assistant':
      case 'ask_failed':
      case 'compacted':
      case 'spent':
        return this.#spend(event);
      case 'tool_result': {
        const outcome = event.denied === true ? 'denied' : event.isError ? 'error' : 'ok';
        const labels = { tool: event.toolName, outcome };
        return this.count('cobbler_tool_results_total', 'Completed tool calls.', labels);
      }
      case 'finished':
        return this.count('cobbler_runs_total', 'Ended runs.', { status: event.status });
      case 'retry':
        return this.count('cobbler_retries_total', 'Retried model requests.');
      default:
        return ignore<'input' | 'call' | 'note' | 'stream' | 'activity'>(event);
    }
  }

  #spend(event: RunEvent): void {
    const spent = isStored(event) ? spendingOf(event) : undefined;
    if (spent === undefined) return;
    const { usage, usd = 0 } = spent;
    for (const [side, tokens] of [
      ['input', usage.inputTokens],
      ['output', usage.outputTokens],
    ] as const)
      if (tokens > 0)
        this.count('cobbler_tokens_total', 'Tokens used by successful requests.', { side }, tokens);
    // A counter at 0 would show an unknown price as free.
    if (usd > 0) this.count('cobbler_usd_total', 'Known cost in US dollars.', {}, usd);
  }

  /** Returns all metrics in the Prometheus text format. */
  text(): string {
    const lines: string[] = [];
    for (const [name, { help, values }] of this.#counters) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`);
    }
    for (const [name, { help, spreads }] of this.#histograms) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
      for (const [labels, spread] of spreads) lines.push(...spreadLines(name, labels, spread));
    }
    for (const { name, help, read } of this.#gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

/** Returns the buckets as Prometheus expects them: each includes the counts of the buckets before it. */
function spreadLines(name: string, text: string, { labels, counts, sum }: HistogramData): string[] {
  let below = 0;
  const lines = counts.map((count, index) => {
    below += count;
    return `${name}_bucket${textOf({ ...labels, le: String(buckets[index] ?? '+Inf') })} ${below}`;
  });
  return [...lines, `${name}_sum${text} ${sum}`, `${name}_count${text} ${below}`];
}

function getOrCreate<Value>(values: Map<string, Value>, key: string, make: () => Value): Value {
  const known = values.get(key);
  if (known !== undefined) return known;
  const value = make();
  values.set(key, value);
  return value;
}

function textOf(labels: Labels): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name] ?? '')}"`;
  return text === '' ? '' : `{${text}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`)).slice(0, 100);
}
