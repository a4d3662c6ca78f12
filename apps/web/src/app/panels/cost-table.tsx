import type { CostGroup, CostRow, CostTotals } from '@cobbler/agent/store';
import { totalCosts } from '@cobbler/agent/store';
import type { ComponentChild, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { counted, share, tokens } from '../parts/format.ts';
import type { SessionEntry } from '../session/api.ts';
import { PageLink } from '../session/page-link.tsx';
import type { PageRoute } from '../session/route.ts';
import { costText, dayText } from './cost-text.ts';

interface TableProps {
  readonly by: CostGroup;
  readonly rows: readonly CostRow[];
  readonly sessions: readonly SessionEntry[];
  readonly go: (place: PageRoute) => void;
}

const firstRows = 50;

/** The costs of each group, with a total. Days are shown the latest first. */
export function CostTable({ by, rows, sessions, go }: TableProps): VNode {
  const [isWhole, setWhole] = useState(false);
  const sorted = by === 'day' ? rows.toReversed() : rows;
  const shown = isWhole ? sorted : sorted.slice(0, firstRows);
  const top = Math.max(...rows.map(({ usd }) => usd));
  return (
    <>
      <table class="costs-table">
        <caption class="unseen">Costs by {by}</caption>
        <thead>
          <tr>
            {[by, 'requests', 'input', 'cached', 'output', 'cost'].map((name) => (
              <th key={name} scope="col" class={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <Row key={row.key} row={row} part={top === 0 ? 0 : row.usd / top}>
              <Name by={by} row={row} session={sessions.find(({ id }) => id === row.key)} go={go} />
            </Row>
          ))}
        </tbody>
        <tfoot>
          <Row row={totalCosts(rows)}>total</Row>
        </tfoot>
      </table>
      {shown.length < rows.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {counted(rows.length, 'row')}
        </button>
      )}
    </>
  );
}

interface RowProps {
  readonly row: CostTotals;
  /** Part of the largest cost. */
  readonly part?: number;
  readonly children: ComponentChild;
}

function Row({ row, part, children }: RowProps): VNode {
  const { requests, inputTokens, cacheReadTokens, outputTokens } = row;
  return (
    <tr>
      <th scope="row">{children}</th>
      <td>{requests.toLocaleString('en')}</td>
      <td class="input">{tokens(inputTokens)}</td>
      <td class="cached">{inputTokens === 0 ? '' : share(cacheReadTokens, inputTokens)}</td>
      <td class="output">{tokens(outputTokens)}</td>
      <td class="cost">
        {costText(row)}
        {part !== undefined && (
          <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
            <rect width={part} height="1" />
          </svg>
        )}
      </td>
    </tr>
  );
}

const kinds: Readonly<Record<string, string>> = {
  model: 'responses',
  compaction: 'summaries',
  failed: 'failed requests',
};

interface NameProps {
  readonly by: CostGroup;
  readonly row: CostRow;
  readonly session: SessionEntry | undefined;
  readonly go: (place: PageRoute) => void;
}

function Name({ by, row, session, go }: NameProps): VNode {
  const { key } = row;
  if (by === 'day') return <>{dayText(row)}</>;
  if (key === null) return <span class="muted">not recorded</span>;
  if (by === 'kind') return <>{kinds[key] ?? key}</>;
  if (session === undefined) return <code title={key}>{key}</code>;
  return (
    <PageLink to={{ sessionId: key }} title={key} go={go}>
      {session.title === '' ? key : session.title}
    </PageLink>
  );
}
