import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { AuditRecord, AuditReport } from '@cobbler/agent/audit';
import { auditExpectation, auditFile, auditLines, readAuditLine, verifyAudit } from '@cobbler/agent/audit';
import type { RawOptions } from '../config/run-flags.ts';
import { auditFolder } from '../session/audit.ts';
import { shortId } from '../session/find-session.ts';
import { visible, visibleJson } from '../terminal/escape.ts';
import { parseAge, parseCount, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { optionValue } from '../terminal/option-value.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { table } from '../terminal/table.ts';
import { UsageError } from '../terminal/usage-error.ts';

const actions = ['show', 'verify', 'export'];

/** Runs `cobbler audit`: shows, checks or exports the audit log of this machine. Returns the exit code. */
export async function audit(
  [action = 'show', file]: readonly string[],
  options: RawOptions,
  io: Io,
  now: number = Date.now(),
): Promise<number> {
  if (action === 'show') return await show(options, io, now);
  if (action === 'verify') return await verify(file, options, io);
  if (action === 'export') return await exportLines(io);
  throw new UsageError(
    `audit has no action ${JSON.stringify(action)}.${didYouMean(action, actions)}`,
    'See: cobbler help audit',
  );
}

async function show(options: RawOptions, io: Io, now: number): Promise<number> {
  const age = optionValue(options['since'], '--since', parseAge, 'For example: --since 7d');
  const limit = optionValue(options['limit'], '--limit', parseCount, 'For example: --limit 20');
  const since = age === undefined ? '' : new Date(now - age).toISOString();
  const { session, kind } = options;
  const isJson = options['json'] === true;
  const write = (line: string) => io.stdout.write(`${visibleJson(line)}\n`);
  const found: { line: string; record: AuditRecord }[] = [];
  for await (const line of auditLines(chunksOf(ownFile(io)))) {
    const record = readAuditLine(line);
    if (record === undefined || record.time < since) continue;
    if (kind !== undefined && record.kind !== kind) continue;
    if (session !== undefined && !String(record['session'] ?? '').startsWith(String(session))) continue;
    if (isJson && limit === undefined) write(line);
    else found.push({ line, record });
    if (found.length > (limit ?? 50)) found.shift();
  }
  const records = found.map(({ record }) => record);
  if (isJson) for (const { line } of found) write(line);
  else if (found.length === 0) io.stderr.write('The audit log has no such records.\n');
  else io.stdout.write(`${auditTable(records, styleFor(screenFor(io.stdout, io.env))).join('\n')}\n`);
  return 0;
}

const titles = ['time', 'command', 'kind', 'session', 'what'];

function auditTable(records: readonly AuditRecord[], style: Style): string[] {
  return table(titles, records.map(cellsOf), style);
}

/** The fields of a record that its row shows. */
const shown = [
  ...['change', 'may', 'verdict', 'status', 'decision', 'by', 'tool', 'limit', 'name', 'token', 'sandbox'],
  ...['version', 'callId', 'approvalId', 'lost', 'missing', 'user'],
];

function cellsOf(record: AuditRecord): string[] {
  const { time, surface, kind, session = '' } = record;
  const facts = shown.flatMap((name) => {
    const value = record[name];
    return value === undefined ? [] : [name === 'by' ? `by ${String(value)}` : String(value)];
  });
  const cells = [`${time.slice(0, 19)}Z`, surface, kind, shortId(String(session)), facts.join(' ')];
  return cells.map(oneLine);
}

async function verify(given: string | undefined, options: RawOptions, io: Io): Promise<number> {
  const own = given === undefined ? auditFolder(io.env) : undefined;
  const file = given === undefined ? ownFile(io) : resolve(io.cwd(), given);
  if (given !== undefined && !existsSync(file))
    throw new UsageError(
      `Cannot read ${file}: there is no such file.`,
      'Pass a file of cobbler audit export.',
    );
  const expected = own === undefined ? {} : auditExpectation(own);
  const { anchor } = options;
  const anchors = [...(expected.anchors ?? []), ...(anchor === undefined ? [] : [String(anchor)])];
  const report = await verifyAudit(auditLines(chunksOf(file)), { ...expected, anchors });
  io.stdout.write(
    options['json'] === true
      ? `${visibleJson(JSON.stringify({ file, ...report }))}\n`
      : `${reportLines(file, report).map(visible).join('\n')}\n`,
  );
  return report.problem === undefined ? 0 : 1;
}

function reportLines(file: string, { lines, signed, head, key, problem, gap }: AuditReport): string[] {
  if (problem !== undefined) {
    const intact = `The ${problem === gap ? 'other lines' : 'lines before it'} are intact.`;
    const rest = gap === undefined || problem === gap ? [] : [`Line ${gap.line} ${gap.message}.`];
    return [`${file}: line ${problem.line} ${problem.message}. ${intact}`, ...rest];
  }
  if (lines === 0) return [`${file}: there are no records yet.`];
  const rest = head.seq - signed;
  return [
    `${file}: ${plural(head.seq, 'record')}, all intact.`,
    `signed   ${rest === 0 ? 'all' : `all but the last ${rest}`}${key === undefined ? '' : `, with the key ${key}`}`,
    `head     ${head.hash}`,
    'Keep the head elsewhere, and pass it later as --anchor: a program that can write to the log can also replace the key.',
  ];
}

async function exportLines(io: Io): Promise<number> {
  const file = ownFile(io);
  if (existsSync(file)) for await (const chunk of createReadStream(file)) await io.stdout.send(chunk);
  return 0;
}

function ownFile(io: Io): string {
  const folder = auditFolder(io.env);
  if (folder === undefined) throw UsageError.noHome('The audit log');
  return auditFile(folder);
}

/** Returns the content of a file; nothing if it does not exist. */
function chunksOf(file: string): AsyncIterable<string> {
  return existsSync(file) ? createReadStream(file, { encoding: 'latin1' }) : Readable.from([]);
}
