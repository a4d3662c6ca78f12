import type { RunEvent } from '@cobbler/agent';

/** Names and values that tell one series of a metric from another. */
type Labels = Readonly<Record<string, string>>;

interface Metric {
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** By the text of its labels. */
  readonly values: Map<string, number>;
}

/** Upper bounds of the buckets of a duration, in seconds. */
const buckets: readonly number[] = [0.005, 0.025, 0.1, 0.5, 2.5, 10];

/** What the server counts, in the text format of Prometheus. */
export class Meters {
  readonly #metrics = new Map<string, Metric>();
  readonly #gauges: { readonly name: string; readonly help: string; read(): number }[] = [];

  /** Adds to a counter. */
  count(name: string, help: string, labels: Labels = {}, by = 1): void {
    this.#add(this.#metric(name, help, 'counter'), textOf(labels), by);
  }

  /** Notes a duration in seconds. */
  observe(name: string, help: string, labels: Labels, seconds: number): void {
    const metric = this.#metric(name, help, 'histogram');
    for (const bound of buckets) {
      if (seconds <= bound) this.#add(metric, `_bucket${textOf({ ...labels, le: String(bound) })}`, 1);
    }
    this.#add(metric, `_bucket${textOf({ ...labels, le: '+Inf' })}`, 1);
    this.#add(metric, `_sum${textOf(labels)}`, seconds);
    this.#add(metric, `_count${textOf(labels)}`, 1);
  }

  /** A value that is read whenever somebody asks. */
  gauge(name: string, help: string, read: () => number): void {
    this.#gauges.push({ name, help, read });
  }

  /** What the events of runs amount to. */
  hear(event: RunEvent): void {
    if (event.type === 'assistant') {
      const { inputTokens, outputTokens } = event.usage;
      this.count('cobbler_tokens_total', 'Tokens of answered requests.', { side: 'input' }, inputTokens);
      this.count('cobbler_tokens_total', 'Tokens of answered requests.', { side: 'output' }, outputTokens);
      this.count('cobbler_usd_total', 'US dollars, where prices are known.', {}, event.usd ?? 0);
    } else if (event.type === 'tool_result') {
      const outcome = event.denied === true ? 'denied' : event.isError ? 'error' : 'ok';
      this.count('cobbler_tool_results_total', 'Answered tool calls.', { tool: event.toolName, outcome });
    } else if (event.type === 'finished') {
      this.count('cobbler_runs_total', 'Runs that ended.', { status: event.status });
    } else if (event.type === 'retry') {
      this.count('cobbler_retries_total', 'Requests to the model that were repeated.');
    }
  }

  /** Everything, as Prometheus reads it. */
  text(): string {
    const lines: string[] = [];
    for (const [name, { help, type, values }] of this.#metrics) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`);
    }
    for (const { name, help, read } of this.#gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #metric(name: string, help: string, type: Metric['type']): Metric {
    const known = this.#metrics.get(name);
    if (known !== undefined) return known;
    const metric: Metric = { help, type, values: new Map() };
    this.#metrics.set(name, metric);
    return metric;
  }

  #add({ values }: Metric, key: string, by: number): void {
    values.set(key, (values.get(key) ?? 0) + by);
  }
}

function textOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`)).slice(0, 100);
}
