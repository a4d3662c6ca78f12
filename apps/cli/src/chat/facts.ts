import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AgentError } from '@cobbler/agent';
import type { ToolResultEvent } from '@cobbler/agent/events';
import { shortId } from '../session/find-session.ts';
import { visible } from '../terminal/escape.ts';
import { formatUsd, plural } from '../terminal/format.ts';
import type { Clock } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { clip, flow, wrap } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { fileLabel } from '../view/tool-calls.ts';
import type { Conversation } from './conversation.ts';
import { windowFact } from './figures-view.ts';
import type { ChatHost } from './host.ts';

/** Returns the header of a conversation: directory, model and session. */
export function headerLines(host: ChatHost, sessionId: string, style: Style, columns: number): string[] {
  const facts = [...host.header, `session ${shortId(sessionId)}`];
  const parts = facts.map((fact) => clip(fact, columns - 1, style.marks.ellipsis));
  const [first = '', ...rest] = flow(parts, ` ${style.marks.dot} `, columns - 1);
  const name = facts[0] ?? '';
  return [style.bold(name) + style.dim(first.slice(name.length)), ...rest.map(style.dim)];
}

/** Returns the facts of the status line: model, permissions, context usage, cost and directory. */
export function statusFacts(
  host: ChatHost,
  { ledger, harness }: Pick<Conversation, 'ledger' | 'harness'>,
  notices: readonly string[],
  branch: string | undefined,
  style: Style,
): string[] {
  const { usd } = ledger;
  const count = runningCommands(host, harness.sessionId);
  return [
    ...notices.filter((notice) => notice !== ''),
    [visible(host.model.name), host.model.effort ?? ''].join(' ').trim(),
    host.permissionWord,
    windowFact(ledger, host, style),
    ...(usd === undefined ? [] : [formatUsd(usd)]),
    ...(count === 0 ? [] : [`${count} in background`]),
    visible(branch === undefined ? host.place : `${host.place} (${branch})`),
  ];
}

/** Returns the number of commands that run in the background. */
export function runningCommands({ local }: ChatHost, sessionId: string): number {
  return local?.background?.list(sessionId).filter(({ status }) => status === 'running').length ?? 0;
}

/** Returns an error with its advice. */
export function complaintLines(
  error: unknown,
  { style, screen }: { readonly style: Style; readonly screen: Pick<Screen, 'columns'> },
): string[] {
  const room = screen.columns() - 3;
  const { message } = AgentError.from(error);
  const advice = error instanceof UsageError ? error.advice : [];
  const [first = '', ...rest] = wrap(visible(message), room);
  const lines = advice.flatMap((line) => wrap(visible(line), room));
  return [
    `${style.red(style.marks.failed)} ${first}`,
    ...rest.map((line) => `  ${line}`),
    ...lines.map((line) => style.dim(`  ${line}`)),
  ];
}

/** Returns what the chat says after a connection was lost and is back. */
export function backLine(events: number, { dim, marks }: Style): string {
  const what = events === 0 ? 'reconnected' : `received ${plural(events, 'event')}`;
  return dim(`${marks.bullet} ${what}`);
}

export function troubleLine(message: string, { yellow }: Style): string {
  return yellow(`${visible(message)} The chat will continue without being saved.`);
}

export function missingLine(names: readonly string[], { yellow }: Style): string {
  return yellow(`  sent as text, because no such file exists: ${names.map(visible).join(', ')}`);
}

/** Returns the whole output of a tool call, after the steps of it that were shown while it ran. */
export function resultLines(
  result: ToolResultEvent | undefined,
  steps: readonly string[] | undefined,
  style: Style,
): string[] {
  if (result === undefined) return [style.dim('No tool has printed any output yet.')];
  const text = result.content.map((part) => (part.type === 'text' ? part.text : fileLabel(part)));
  const lines = visible(text.join('\n')).trimEnd().split('\n');
  const branch = (steps ?? []).map((step) => style.dim(`${style.marks.dot} ${oneLine(step)}`));
  return ['', style.bold(visible(result.toolName)), ...[...branch, ...lines].map((line) => `  ${line}`)];
}

/** Time for which a branch counts as known, because every key redraws the status line, in milliseconds. */
const branchMs = 1000;

/** Returns a function that reads the branch of a directory's repository. */
export function branchReader(folder: string, clock: Clock): () => string | undefined {
  let branch: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.now() - readAt < branchMs) return branch;
    readAt = clock.now();
    branch = gitBranch(folder);
    return branch;
  };
}

/** Returns the branch of a directory's repository without running git; undefined outside a repository. */
function gitBranch(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const branch = branchOf(join(at, '.git'), at);
    if (branch !== undefined) return branch;
    if (dirname(at) === at) return undefined;
  }
}

function branchOf(path: string, folder: string): string | undefined {
  try {
    const isFolder = statSync(path).isDirectory();
    // In a worktree, .git is a file that contains the path of the repository.
    const home = isFolder
      ? path
      : resolve(
          folder,
          readFileSync(path, 'utf8')
            .replace(/^gitdir: /, '')
            .trim(),
        );
    const head = readFileSync(join(home, 'HEAD'), 'utf8').trim();
    return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? head.slice(0, 8);
  } catch {
    return undefined;
  }
}
