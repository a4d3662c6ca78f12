import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { BarChart } from '../parts/bar-chart.tsx';
import { duration, money, share, tokens } from '../parts/format.ts';
import { Sum } from '../parts/sum.tsx';
import type { SessionModel } from '../session/session-model.ts';
import type { SessionTotals, TurnUsage } from '../session/turns.ts';
import { countOf, totalsOf, turnsIn } from '../session/turns.ts';

interface UsageProps {
  readonly model: SessionModel;
  readonly show: (seq: number) => void;
}

/** The usage of the session, in total and by turn. */
export function UsagePanel({ model, show }: UsageProps): VNode {
  const turns = useMemo(() => turnsIn(model.view), [model.version]);
  if (turns.length === 0) return <p class="muted none">No responses yet.</p>;
  const totals = totalsOf(model.view.paid);
  const bars = (values: (turn: TurnUsage) => readonly number[], words: (turn: TurnUsage) => string) =>
    turns.map((turn) => ({
      key: turn.seq,
      values: values(turn),
      words: `turn ${turn.name}: ${words(turn)}`,
    }));
  return (
    <>
      <Sums totals={totals} turns={turns.length} />
      <h2>Cost per turn</h2>
      <BarChart
        bars={bars(
          ({ usd }) => [usd ?? 0],
          ({ usd }) => (usd === undefined ? 'price unknown' : money(usd)),
        )}
        kinds={['cost']}
        format={money}
      />
      <h2>Tokens per turn</h2>
      <BarChart
        bars={bars(
          parts,
          ({ usage }) => `${tokens(usage.inputTokens)} in, ${tokens(usage.outputTokens)} out`,
        )}
        kinds={['cached', 'input', 'output']}
        format={tokens}
      />
      <TurnTable turns={turns} show={show} />
    </>
  );
}

function parts({ usage }: TurnUsage): number[] {
  const cached = usage.cacheReadTokens ?? 0;
  return [cached, usage.inputTokens - cached, usage.outputTokens];
}

function Sums({ totals, turns }: { readonly totals: SessionTotals; readonly turns: number }): VNode {
  const { usage, wasted, usd, isPartial, durationMs } = totals;
  const lost = countOf(wasted);
  return (
    <dl class="sums">
      <Sum
        name="cost"
        value={isPartial && usd === 0 ? 'unknown' : `${money(usd)}${isPartial ? ' and more' : ''}`}
      />
      <Sum name="turns" value={String(turns)} />
      <Sum name="input" value={tokens(usage.inputTokens)} />
      <Sum name="cached input" value={share(usage.cacheReadTokens ?? 0, usage.inputTokens)} />
      <Sum name="output" value={tokens(usage.outputTokens)} />
      <Sum name="model time" value={duration(durationMs)} />
      {lost > 0 && <Sum name="failed requests" value={tokens(lost)} />}
    </dl>
  );
}

/** Maximum number of rows; the charts show all of them. */
const maxRows = 200;

interface TurnTableProps {
  readonly turns: readonly TurnUsage[];
  readonly show: (seq: number) => void;
}

function TurnTable({ turns, show }: TurnTableProps): VNode {
  return (
    <table class="turns">
      <thead>
        <tr>
          {['turn', 'in', 'cached', 'out', 'time', 'cost'].map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {turns.slice(-maxRows).map(({ seq, name, usage, usd, durationMs }) => (
          <tr key={seq}>
            <td>
              <button type="button" class="quiet" onClick={() => show(seq)}>
                {name}
              </button>
            </td>
            <td>{tokens(usage.inputTokens)}</td>
            <td>{share(usage.cacheReadTokens ?? 0, usage.inputTokens)}</td>
            <td>{tokens(usage.outputTokens)}</td>
            <td>{duration(durationMs)}</td>
            <td>{usd === undefined ? '–' : money(usd)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
