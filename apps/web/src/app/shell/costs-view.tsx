import type { CostGroup, Forecast } from '@cobbler/agent/store';
import { costCsv, costGroups } from '@cobbler/agent/store';
import type { VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { CostChart } from '../panels/cost-chart.tsx';
import { CostTable } from '../panels/cost-table.tsx';
import { counted, money, share, tokens } from '../parts/format.ts';
import { useChanged } from '../parts/hooks.tsx';
import { Icon } from '../parts/icons.tsx';
import { Sum } from '../parts/sum.tsx';
import type { CostReport, Period } from '../session/costs.ts';
import { loadCosts, periods } from '../session/costs.ts';
import type { AppState } from './app-state.ts';

interface CostsProps {
  readonly app: AppState;
  readonly openSidebar: () => void;
}

/** A report, and the group that it is for. */
interface Shown {
  readonly by: CostGroup;
  readonly report: CostReport;
}

/** The costs of all sessions. */
export function CostsView({ app, openSidebar }: CostsProps): VNode {
  useChanged(app.list);
  const [by, setBy] = useState<CostGroup>('day');
  const [period, setPeriod] = useState<Period>('30 days');
  const { shown, problem, retry } = useCosts(by, period);
  useEffect(() => {
    document.title = 'Costs – Cobbler';
  }, []);
  useEffect(() => {
    if (by === 'session') void app.list.all();
  }, [by]);
  return (
    <main class="stage">
      <header class="head">
        <button type="button" class="quiet to-sidebar" aria-label="Sessions" onClick={openSidebar}>
          <Icon name="list" />
        </button>
        <h1>Costs</h1>
        {shown !== undefined && shown.report.rows.length > 0 && (
          <button type="button" onClick={() => download(shown)}>
            <Icon name="down" /> CSV
          </button>
        )}
      </header>
      <div class="scroller costs">
        <div class="column">
          <Choice
            label="Period"
            values={Object.keys(periods) as Period[]}
            chosen={period}
            choose={setPeriod}
          />
          {problem !== undefined && (
            <p class="bad" role="alert">
              {problem}{' '}
              <button type="button" onClick={retry}>
                Try again
              </button>
            </p>
          )}
          {shown === undefined ? (
            problem === undefined && <p class="muted none">Loading…</p>
          ) : (
            <Report shown={shown} by={by} setBy={setBy} app={app} />
          )}
        </div>
      </div>
    </main>
  );
}

interface ReportProps {
  readonly shown: Shown;
  readonly by: CostGroup;
  readonly setBy: (by: CostGroup) => void;
  readonly app: AppState;
}

function Report({ shown: { by: shownBy, report }, by, setBy, app }: ReportProps): VNode {
  if (report.rows.length === 0) {
    return (
      <div class="none" role="status">
        <h2>No costs in this period</h2>
        <p class="muted">Each request to a model is added here when its response is complete.</p>
      </div>
    );
  }
  return (
    <>
      <Sums report={report} />
      <CostChart days={report.days} />
      <Choice label="Group by" values={costGroups} chosen={by} choose={setBy} />
      <CostTable
        key={shownBy}
        by={shownBy}
        rows={report.rows}
        sessions={app.list.items}
        go={(place) => app.go(place)}
      />
    </>
  );
}

function Sums({ report: { total, forecast } }: { readonly report: CostReport }): VNode {
  const { requests, unpriced, usd, inputTokens, cacheReadTokens, outputTokens } = total;
  const rest = unpriced > 0 ? ` without ${counted(unpriced, 'unpriced request')}` : '';
  return (
    <dl class="sums">
      <Sum name={`cost${rest}`} value={usd === 0 && unpriced > 0 ? 'unknown' : money(usd)} />
      {forecast !== undefined && (
        <Sum name={`expected by the end of ${monthOf(forecast)}`} value={expected(forecast)} />
      )}
      <Sum name="requests" value={requests.toLocaleString('en')} />
      <Sum name="input" value={`${tokens(inputTokens)}, ${share(cacheReadTokens, inputTokens)} cached`} />
      <Sum name="output" value={tokens(outputTokens)} />
    </dl>
  );
}

function monthOf({ until }: Forecast): string {
  return new Date(until - 1).toLocaleDateString('en', { month: 'long' });
}

function expected({ usd, isMinimum }: Forecast): string {
  return `${isMinimum ? 'at least ' : ''}${money(usd)}`;
}

/** Loads the costs again when the choice changes; keeps the old ones until then. */
function useCosts(by: CostGroup, period: Period) {
  const [shown, setShown] = useState<Shown>();
  const [problem, setProblem] = useState<string>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setProblem(undefined);
    loadCosts(by, period, Date.now()).then(
      (report) => isCurrent && setShown({ by, report }),
      (error) => isCurrent && setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [by, period, round]);
  return { shown, problem, retry: () => setRound(round + 1) };
}

function download({ by, report }: Shown): void {
  const text = `${costCsv(by, report.rows).join('\n')}\n`;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = `costs-by-${by}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

interface ChoiceProps<Value extends string> {
  /** Meaning of the values, for screen readers. */
  readonly label: string;
  readonly values: readonly Value[];
  readonly chosen: Value;
  readonly choose: (value: Value) => void;
}

/** A row of values, one of which is chosen. The arrow keys move the choice. */
function Choice<Value extends string>({ label, values, chosen, choose }: ChoiceProps<Value>): VNode {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {values.map((value) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => choose(value)}
          />
          <span class="option">{value}</span>
        </label>
      ))}
    </fieldset>
  );
}
