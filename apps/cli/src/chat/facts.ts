import { visible } from '../escape.ts';
import { formatUsd } from '../figures.ts';
import { shortId } from '../find-session.ts';
import type { Style } from '../style.ts';
import { clip, flow } from '../text-width.ts';
import { windowFact } from './figures-view.ts';
import { gitBranch } from './git-branch.ts';
import type { ChatHost } from './host.ts';
import type { Ledger } from './ledger.ts';

/** What stands above a conversation: where it is held, and its session. */
export function headerLines(host: ChatHost, sessionId: string, style: Style, columns: number): string[] {
  const facts = [...host.header, `session ${shortId(sessionId)}`];
  const pieces = facts.map((fact) => clip(fact, columns - 1, style.marks.ellipsis));
  const [first = '', ...rest] = flow(pieces, ` ${style.marks.dot} `, columns - 1);
  const name = facts[0] ?? '';
  return [style.bold(name) + style.dim(first.slice(name.length)), ...rest.map(style.dim)];
}

/** What stands below what is typed: the model, what it may do, how full its window is, money and place. */
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
