import { existsSync, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StoreReport } from '@cobbler/agent/node';
import { salvageStore, verifyStore } from '@cobbler/agent/node';
import type { RawOptions } from '../config/run-flags.ts';
import { countText, storeFiles } from '../doctor/stores.ts';
import { sessionFile } from '../session/session-home.ts';
import { visible, visibleJson } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

const actions = ['verify', 'salvage'];

/** Runs `cobbler store`: checks a session file, or copies its intact data. Returns the exit code. */
export async function store(operands: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const [action = '', given] = operands;
  if (action === 'verify') return verify(given, options, io);
  if (action === 'salvage') return await salvage(given, options, io);
  throw new UsageError(
    `Cannot run store ${JSON.stringify(action)}: the actions are verify and salvage.${didYouMean(action, actions)}`,
    'See: cobbler help store',
  );
}

/** Checks files for damage. Returns 1 if one is damaged. */
function verify(given: string | undefined, options: RawOptions, io: Io): number {
  const files = given === undefined ? storeFiles(io) : [existingFile(given, io)];
  if (files.length === 0) io.stderr.write('No sessions are stored yet.\n');
  const reports = files.map((file) => ({ file, ...verifyStore(file) }));
  for (const { file, ...report } of reports) {
    if (options['json'] === true) io.stdout.write(`${visibleJson(JSON.stringify({ file, ...report }))}\n`);
    else
      io.stdout.write(
        verifyLines(file, report)
          .map((line) => `${visible(line)}\n`)
          .join(''),
      );
  }
  return reports.every(({ ok }) => ok) ? 0 : 1;
}

function verifyLines(file: string, report: StoreReport): string[] {
  if (report.ok) return [`${file}: ${countText(report)}, all intact.`];
  const damaged = report.sessions.filter(({ problem }) => problem !== undefined);
  return [
    `${file} is damaged. ${countText(report)}.`,
    ...damaged.map(
      ({ id, events }) => `  session ${id}: only the first ${plural(events, 'event')} can be read`,
    ),
    ...report.problems.map((problem) => `  ${problem}`),
    `Copy the intact data to a new file: cobbler store salvage ${file}`,
  ];
}

/** Copies intact data to a new file. Returns 1 if data is lost. */
async function salvage(given: string | undefined, options: RawOptions, io: Io): Promise<number> {
  const from = given === undefined ? (sessionFile(io.env) ?? '') : existingFile(given, io);
  if (!existsSync(from)) {
    throw new UsageError('There is no session file to salvage.', 'Pass one: cobbler store salvage FILE');
  }
  const to = typeof options['to'] === 'string' ? resolve(io.cwd(), options['to']) : `${from}.salvaged`;
  const sessions = await salvageStore(from, to);
  const changed = sessions.filter(({ problems }) => problems.length > 0);
  const lines = changed.map(({ id, events, problems }) => {
    const kept = events === 0 ? 'lost' : `${plural(events, 'event')} kept`;
    return `session ${id}: ${kept}; ${problems.join('; ')}`;
  });
  const copied = sessions.length - changed.length;
  lines.push(`${plural(copied, 'session')} copied unchanged, ${changed.length} damaged.`);
  io.stdout.write(lines.map((line) => `${visible(line)}\n`).join(''));
  if (options['replace'] === true) {
    const aside = replace(from, to);
    io.stderr.write(
      `${visible(from)} now contains the sessions. The damaged file was renamed to ${visible(aside)}.\n`,
    );
  } else {
    io.stderr.write(
      `The sessions are in ${visible(to)}. To check this file, run cobbler store verify ${visible(to)}; to replace the damaged file, delete ${visible(to)} and ${visible(to)}-made, then run: cobbler store salvage ${visible(from)} --replace\n`,
    );
  }
  return changed.length === 0 ? 0 : 1;
}

/** Moves a damaged file and those next to it aside, and the new file to its place. Returns where the damaged file is now. */
function replace(from: string, to: string): string {
  let aside = `${from}.damaged`;
  for (let number = 2; existsSync(aside); number += 1) aside = `${from}.damaged-${number}`;
  for (const end of ['', '-wal', '-shm']) if (existsSync(from + end)) renameSync(from + end, aside + end);
  renameSync(to, from);
  renameSync(`${to}-made`, `${from}-made`);
  return aside;
}

function existingFile(given: string, io: Io): string {
  const file = resolve(io.cwd(), given);
  if (!existsSync(file))
    throw new UsageError(`Cannot read ${file}: there is no such file.`, 'Pass the path of a session file.');
  return file;
}
