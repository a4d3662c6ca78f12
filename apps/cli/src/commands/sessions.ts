import { createReadStream, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { systemRuntime } from '@cobbler/agent';
import { visibleText } from '@cobbler/agent/events';
import { forkSession } from '@cobbler/agent/fork';
import { exportSession, importSession } from '@cobbler/agent/format';
import { defined } from '@cobbler/agent/values';
import { agentFace } from '../agents/agents.ts';
import { readFailure } from '../config/attachment.ts';
import { ownTools } from '../config/choose-tools.ts';
import { checkWritable, shortPath, workFolder } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { shareSession } from '../server/share-session.ts';
import { findSession, sessionsIn, shortId } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { openSessions } from '../session/session-home.ts';
import type { ListedSession } from '../session/session-lines.ts';
import { sessionFacts, sessionTable } from '../session/session-lines.ts';
import { visible } from '../terminal/escape.ts';
import { parseAge, parseCount, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { optionValue } from '../terminal/option-value.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import { styleFor } from '../terminal/style.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { pastLines } from '../view/history-lines.ts';
import { ToolCallList } from '../view/tool-calls.ts';

interface ActionContext {
  readonly sessions: CliSessions;
  /** The operands of the action. */
  readonly rest: readonly string[];
  readonly options: RawOptions;
  readonly io: Io;
}

/** The actions; one that can fail without an error returns the exit code. */
const actions: Readonly<Record<string, (context: ActionContext) => Promise<unknown>>> = {
  list,
  show,
  export: exportTo,
  import: importFrom,
  fork,
  rename,
  delete: remove,
  prune,
  vacuum,
  search,
};

/** Runs `cobbler sessions`: lists the stored sessions, or performs an action on one. Returns the exit code. */
export async function sessions(operands: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const [action = 'list', ...rest] = operands;
  if (action === 'share') return await shareSession(rest, options, io);
  const runAction = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (runAction === undefined) {
    throw new UsageError(
      `sessions has no action ${JSON.stringify(action)}.${didYouMean(action, [...Object.keys(actions), 'share'])}`,
      'See: cobbler help sessions',
    );
  }
  const opened = await openSessions(io.env);
  try {
    const code = await runAction({ sessions: opened, rest, options, io });
    return typeof code === 'number' ? code : 0;
  } finally {
    await opened.store.close();
  }
}

async function list({ sessions, options, io }: ActionContext): Promise<void> {
  const folder = options['here'] === true ? workFolder(undefined, io) : undefined;
  const limit = countOf(options['limit'], '--limit') ?? 20;
  const rows: ListedSession[] = [];
  let hasMore = false;
  for await (const info of sessionsIn(sessions, folder)) {
    hasMore = rows.length === limit;
    if (hasMore) break;
    rows.push(rowOf(sessions, info, io, options['json'] === true));
  }
  if (options['json'] === true) {
    const lines = rows.map(({ info, folder }) => JSON.stringify({ ...info, ...defined({ folder }) }));
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return;
  }
  if (rows.length === 0) {
    io.stderr.write(folder === undefined ? 'No sessions yet.\n' : 'This directory has no sessions.\n');
    return;
  }
  const screen = screenFor(io.stdout, io.env);
  const columns = screen.tty ? screen.columns() : 200;
  io.stdout.write(`${sessionTable(rows, Date.now(), styleFor(screen), columns).join('\n')}\n`);
  const more = hasMore ? ` To list more: cobbler sessions -n ${limit * 5}.` : '';
  const resumeHint = withProgramName(`${more} To continue one: cobbler resume ID`, io.env);
  io.stderr.write(`Stored in ${visible(shortPath(sessions.file, io.env))}.${resumeHint}\n`);
}

function rowOf({ notes }: CliSessions, info: ListedSession['info'], io: Io, isWhole: boolean): ListedSession {
  const folder = notes.read(info.id)?.folder;
  return { info, ...(folder !== undefined && { folder: isWhole ? folder : shortPath(folder, io.env) }) };
}

async function show({ sessions, rest, io }: ActionContext): Promise<void> {
  const { store, notes } = sessions;
  const info = await findSession(store, idOf(rest, 'show'));
  const screen = screenFor(io.stdout, io.env);
  const style = styleFor(screen);
  const view = { style, columns: screen.tty ? screen.columns() : 200, tty: screen.tty, verbose: false };
  const root = notes.read(info.id)?.folder ?? io.cwd();
  const calls = new ToolCallList(
    ownTools({ root, environment: io.env, sandbox: 'off' }, undefined, agentFace),
  );
  const past = pastLines(await store.read(info.id), calls, view);
  const facts = sessionFacts(rowOf(sessions, info, io, false), Date.now(), style);
  io.stdout.write(`${[...facts, ...past].join('\n')}\n`);
}

async function exportTo({ sessions: { store }, rest, options, io }: ActionContext): Promise<void> {
  const { id } = await findSession(store, idOf(rest, 'export'));
  const output = options['output'];
  if (typeof output !== 'string') {
    for await (const line of exportSession(store, id)) io.stdout.write(line);
    return;
  }
  const path = resolve(io.cwd(), output);
  checkWritable(path);
  const lines = await Array.fromAsync(exportSession(store, id));
  // A conversation may contain anything: only the owner can read the file, as with the store.
  writeFileSync(path, lines.join(''), { mode: 0o600 });
  io.stderr.write(
    `${plural(lines.length, 'event')} of session ${shortId(id)} written to ${visible(output)}.\n`,
  );
}

async function importFrom({ sessions: { store, notes }, rest, io }: ActionContext): Promise<void> {
  const [file] = rest;
  if (file === undefined)
    throw new UsageError(
      'The file is missing.',
      'Use: cobbler sessions import FILE (- reads standard input)',
    );
  const id = systemRuntime.id();
  const { events } = await importSession(store, await linesOf(file, io), id);
  notes.write(id, { folder: workFolder(undefined, io) });
  io.stderr.write(
    `${plural(events, 'event')} imported as session ${shortId(id)}. Continue: cobbler resume ${shortId(id)}\n`,
  );
  io.stdout.write(`${id}\n`);
}

async function linesOf(file: string, io: Io): Promise<Iterable<string> | AsyncIterable<string>> {
  if (file === '-') return new TextDecoder().decode(await io.stdin.read()).split('\n');
  const input = createReadStream(resolve(io.cwd(), file));
  await new Promise<void>((opened, failed) => {
    input.once('open', () => opened());
    input.once('error', (error) =>
      failed(
        new UsageError(`${file} ${readFailure(error)}.`, 'Use a file written by cobbler sessions export.'),
      ),
    );
  });
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}

async function fork({ sessions: { store, notes }, rest, options, io }: ActionContext): Promise<void> {
  const { id } = await findSession(store, idOf(rest, 'fork'));
  const at = countOf(options['at'], '--at');
  const to = systemRuntime.id();
  await forkSession(store, { from: id, to, ...defined({ upToSeq: at }) }, systemRuntime);
  // A copy does nothing in the background.
  notes.copyUnmarked(id, to);
  io.stderr.write(
    `Session ${shortId(to)} is a copy of ${shortId(id)}. Continue: cobbler -s ${shortId(to)} "..."\n`,
  );
  io.stdout.write(`${to}\n`);
}

async function rename({ sessions: { store }, rest, io }: ActionContext): Promise<void> {
  const { id } = await findSession(store, idOf(rest, 'rename'));
  await store.rename(id, rest.slice(1).join(' '));
  const info = await store.info(id);
  io.stderr.write(`Session ${shortId(id)} renamed to ${JSON.stringify(info?.title ?? '')}.\n`);
}

async function remove({ sessions: { store, notes }, rest, io }: ActionContext): Promise<void> {
  idOf(rest, 'delete');
  for (const given of rest) {
    const { id, title } = await findSession(store, given);
    await store.delete(id);
    notes.delete(id);
    io.stderr.write(`Session ${shortId(id)} deleted: ${visible(title)}\n`);
  }
}

async function prune({ sessions: { store, notes }, options, io }: ActionContext): Promise<void> {
  const olderThanMs = optionValue(
    options['olderThan'],
    '--older-than',
    parseAge,
    'For example: --older-than 30d',
  );
  const last = options['keepLast'];
  const keepLast = last === '0' ? 0 : countOf(last, '--keep-last');
  if (olderThanMs === undefined && keepLast === undefined) {
    throw new UsageError(
      'prune needs a condition.',
      'For example: cobbler sessions prune --older-than 30d --keep-last 50',
    );
  }
  const ids = await store.prune(defined({ olderThanMs, keepLast }));
  for (const id of ids) notes.delete(id);
  io.stderr.write(
    `${plural(ids.length, 'session')} deleted. To free the disk space: cobbler sessions vacuum\n`,
  );
}

async function search({ sessions: { store }, rest, options, io }: ActionContext): Promise<number> {
  const words = rest.join(' ');
  if (!/[\p{L}\p{N}]/u.test(words))
    throw new UsageError('The words are missing.', 'For example: cobbler sessions search flaky test');
  const limit = countOf(options['limit'], '--limit') ?? 20;
  // The first search of a large store indexes it, step by step.
  let page = await store.search?.({ words, limit });
  while (page?.isComplete === false) page = await store.search?.({ words, limit });
  const { hits = [] } = page ?? {};
  if (options['json'] === true) {
    io.stdout.write(hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''));
    return hits.length === 0 ? 1 : 0;
  }
  const { bold, dim } = styleFor(screenFor(io.stdout, io.env));
  for (const { sessionId, seq, role, snippet } of hits) {
    const info = await store.info(sessionId);
    const text = snippet.map((piece, index) =>
      index % 2 === 1 ? bold(visibleText(piece)) : visibleText(piece),
    );
    const head = [bold(shortId(sessionId)), oneLine(info?.title ?? ''), dim(`${role}, event ${seq}`)];
    io.stdout.write(`${head.join('  ')}\n    ${text.join('')}\n`);
  }
  if (hits.length > 0) return 0;
  io.stderr.write('No message contains these words.\n');
  return 1;
}

async function vacuum({ sessions: { store, file }, io }: ActionContext): Promise<void> {
  const bytes = await store.vacuum();
  io.stderr.write(`${plural(bytes, 'byte')} of ${visible(shortPath(file, io.env))} freed.\n`);
}

function idOf([id]: readonly string[], action: string): string {
  if (id !== undefined) return id;
  throw new UsageError(
    'The session id is missing.',
    `Use: cobbler sessions ${action} ID. List the sessions: cobbler sessions`,
  );
}

function countOf(value: unknown, flag: string): number | undefined {
  return optionValue(value, flag, parseCount, `For example: ${flag} 20`);
}
