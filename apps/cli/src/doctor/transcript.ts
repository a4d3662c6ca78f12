import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TranscriptIssue } from '@cobbler/agent/transcripts';
import { defined } from '@cobbler/agent/values';
import { readFailure } from '../config/attachment.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { visibleJson } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { TranscriptCheck } from './transcript-check.ts';
import { checkTranscript } from './transcript-check.ts';

/** Maximum number of problems to print; more are only counted, unless `--json` is set. */
const maxShown = 50;

/**
 * Runs `cobbler doctor FILE`: checks a transcript and, on request, writes a repaired one. Returns 0 if the transcript
 * or its repair is valid, otherwise 1.
 * @throws UsageError for a file that is not a transcript or cannot be read, and for contradicting options.
 */
export async function doctorTranscript(path: string, options: RawOptions, io: Io): Promise<number> {
  const target = targetOf(path, options, io);
  const text = await readText(path, io);
  const check = await checkTranscript(text);
  if (check === undefined) throw unknownKind(path);
  const report = target === 'stdout' ? io.stderr : io.stdout;
  const style = styleFor(screenFor(report, io.env));
  if (target === undefined) {
    tell(check, path, options, io);
    return check.problems.length === 0 ? 0 : 1;
  }
  const repaired = check.repaired();
  const left = (await checkTranscript(repaired))?.problems ?? nothingLeft;
  const lines = [...problemLines(check.problems, style), ...lossLines(check), ...outcome(check, left, style)];
  if (left.length === 0) {
    if (target === 'stdout') io.stdout.write(repaired);
    else if (repaired !== text || target !== resolve(io.cwd(), path)) writeWhole(target, repaired);
  }
  const where =
    left.length > 0 || target === 'stdout' ? [] : [`The repaired transcript is in ${oneLine(target)}`];
  if (options['json'] === true) report.write(jsonOf(check, path));
  else report.write(`${[...lines, ...where].join('\n')}\n`);
  return left.length === 0 ? 0 : 1;
}

const nothingLeft: readonly TranscriptIssue[] = [
  { place: 'the transcript', what: 'contains nothing that can be repaired' },
];

/** Returns the path for a repaired transcript; undefined if none is requested. */
function targetOf(path: string, options: RawOptions, io: Io): string | undefined {
  const { fix, inPlace, output, json } = options;
  if (fix !== true) {
    if (output === undefined && inPlace !== true) return undefined;
    throw new UsageError('-o and --in-place need --fix.', 'Add --fix.');
  }
  if (inPlace === true && (typeof output === 'string' || path === '-'))
    throw new UsageError('--in-place and -o cannot be used together.', 'Remove one of them.');
  if (inPlace === true) return resolve(io.cwd(), path);
  if (typeof output === 'string') return resolve(io.cwd(), output);
  if (json === true)
    throw new UsageError(
      '--json and --fix would both write to standard output.',
      'Choose a file for the transcript: -o FILE',
    );
  return 'stdout';
}

async function readText(path: string, io: Io): Promise<string> {
  const bytes = path === '-' ? await io.stdin.read() : readBytes(resolve(io.cwd(), path), path);
  // A byte order mark is not part of the text.
  return new TextDecoder().decode(bytes);
}

function readBytes(path: string, given: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(
      `${given} ${readFailure(error)}.`,
      'Pass the path of a readable file, or - for standard input.',
    );
  }
}

function unknownKind(path: string): UsageError {
  return new UsageError(
    `${path} is not in a known transcript format.`,
    'Known formats: events as JSON Lines (cobbler run --json); a request body, or only its list of messages,',
    'in the JSON format of Claude Messages, OpenAI Responses or Chat Completions.',
  );
}

function tell(check: TranscriptCheck, path: string, options: RawOptions, io: Io): void {
  if (options['json'] === true) {
    io.stdout.write(jsonOf(check, path));
    return;
  }
  const style = styleFor(screenFor(io.stdout, io.env));
  const { problems, kind, size } = check;
  const lines =
    problems.length === 0
      ? [`${style.green(style.marks.ok || 'ok')} ${kind}, ${size}: no problems`]
      : [
          ...problemLines(problems, style),
          '',
          `${style.bold(plural(problems.length, 'problem'))} in ${kind}.`,
          `  fix: cobbler doctor ${oneLine(path)} --fix -o FILE`,
        ];
  io.stdout.write(`${lines.join('\n')}\n`);
}

function jsonOf({ kind, size, problems }: TranscriptCheck, path: string): string {
  return `${visibleJson(JSON.stringify({ ok: problems.length === 0, file: path, kind, size, problems }))}\n`;
}

function problemLines(problems: readonly TranscriptIssue[], style: Style): string[] {
  const mark = style.red(style.marks.failed || 'FAIL');
  const shown = problems
    .slice(0, maxShown)
    .map(({ place, what }) => `${mark} ${oneLine(`${place} ${what}`)}`);
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, `  and ${more} more (all of them: --json)`] : shown;
}

/** Returns the data that a repaired conversation lacks, each kind once. */
function lossLines({ problems, losses }: TranscriptCheck): string[] {
  if (problems.length === 0) return [];
  const places = Map.groupBy(losses, ({ what }) => what);
  return [...places].map(([what, [first, ...more]]) => {
    const also = more.length === 0 ? '' : ` (and ${more.length} more)`;
    return `note: ${oneLine(`${first?.place ?? ''}${also} ${what}`)}`;
  });
}

function outcome(check: TranscriptCheck, left: readonly TranscriptIssue[], style: Style): string[] {
  if (left.length > 0)
    return ['', style.red(`Repair failed: ${oneLine(`${left[0]?.place} ${left[0]?.what}`)}.`)];
  if (check.problems.length === 0) return [`${check.kind}, ${check.size}: nothing to repair`];
  return ['', style.bold(`${plural(check.problems.length, 'problem')} repaired.`)];
}

/** Replaces the file as a whole, so that it is never incomplete. */
function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`;
  try {
    // An existing file keeps its mode, and a link to it remains a link.
    const before = statSync(path, { throwIfNoEntry: false });
    writeFileSync(fresh, text, { flag: 'wx', ...defined({ mode: before?.mode }) });
    renameSync(fresh, before === undefined ? path : realpathSync(path));
  } catch (error) {
    rmSync(fresh, { force: true });
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new UsageError(`Cannot write ${path} (${code}).`, 'Choose another file: -o FILE');
  }
}
