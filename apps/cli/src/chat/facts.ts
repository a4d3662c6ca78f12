import { shortId } from '../session/find-session.ts';
import { visible } from '../terminal/escape.ts';
import { formatUsd } from '../terminal/format.ts';
import type { Style } from '../terminal/style.ts';
import { clip, flow } from '../terminal/text-width.ts';
import type { Ledger } from '../view/ledger.ts';
import { windowFact } from './figures-view.ts';
import { gitBranch } from './git-branch.ts';
import type { ChatHost } from './host.ts';

/** The header of a conversation: its location and session. */
export function headerLines(host: ChatHost, sessionId: string, style: Style, columns: number): string[] {
  const facts = [...host.header, `session ${shortId(sessionId)}`];
  const pieces = facts.map((fact) => clip(fact, columns - 1, style.marks.ellipsis));
  const [first = '', ...rest] = flow(pieces, ` ${style.marks.dot} `, columns - 1);
  const name = facts[0] ?? '';
  return [style.bold(name) + style.dim(first.slice(name.length)), ...rest.map(style.dim)];
}

/** The status line: model, permissions, context usage, cost and directory. */
export function statusFacts(host: ChatHost, ledger: Ledger, style: Style): string[] {
  const { usd } = ledger;
  const branch = gitBranch(host.folder);
  return [
    visible(host.model.name),
    host.permissionWord,
    windowFact(ledger, host, style),
    ...(usd === undefined ? [] : [formatUsd(usd)]),
    visible(branch === undefined ? host.place : `${host.place} (${branch})`),
  ];
}
