import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '@cobbler/agent';
import type { EvalCase, EvalDefinition } from '@cobbler/agent/definitions';
import type { RawOptions } from '../config/run-flags.ts';
import { openAgent } from '../project/agent-folder.ts';
import { jsonLine } from '../terminal/escape.ts';
import { formatMs, formatUsd, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { run } from './run.ts';

/** What the run for a case did. */
interface CaseRun {
  readonly exitCode: number;
  /** The last response. */
  readonly text: string;
  /** The tools that the model called, in order. */
  readonly calls: readonly string[];
  /** Why the run did not complete. */
  readonly failure?: string;
  /** Undefined if a price is unknown. */
  readonly usd: number | undefined;
}

/** Maximum length of a prompt or a response in a line. */
const maxShown = 60;

/** Exit codes of a run: a call was denied because no user could be asked, and the user cancelled it. */
const denied = 5;
const cancelled = 130;

/**
 * Runs `cobbler eval [folder] [name...]`: each case is a `cobbler run` without a session, in a new directory. Returns the
 * exit code, which is 1 if a case fails.
 */
export async function evaluate(
  [folder = '.', ...names]: readonly string[],
  options: RawOptions,
  io: Io,
): Promise<number> {
  const { evals } = await openAgent(folder, io);
  const chosen = evals.filter(({ name }) => names.length === 0 || names.includes(name));
  if (chosen.length < Math.max(names.length, 1))
    throw new UsageError(
      `The agent has only these evals: ${evals.map(({ name }) => name).join(', ') || 'none'}.`,
      'Write a case into each line of evals/NAME.jsonl, such as: {"prompt":"What is 2 + 2?","contains":"4"}',
    );
  const total = { cases: 0, failed: 0, usd: 0 };
  for (const { one, given } of chosen.flatMap((one) => one.cases.map((given) => ({ one, given })))) {
    const start = io.clock.now();
    const done = await runCase(one, given, { ...options, agent: folder }, io);
    if (done.exitCode === cancelled) return cancelled;
    const problems = problemsOf(given, done);
    total.cases += 1;
    total.failed += problems.length > 0 ? 1 : 0;
    total.usd += done.usd ?? Number.NaN;
    const { failure: _, exitCode, ...facts } = done;
    const ms = Math.round(io.clock.now() - start);
    const { line, prompt } = given;
    const ok = problems.length === 0;
    const json = { eval: one.name, line, prompt, ok, problems, ...facts, ms };
    const words = ok ? formatMs(ms) : problems.join('. ');
    const shown = `${ok ? 'pass' : 'FAIL'}  ${one.name}:${line}  ${short(prompt)}  ${words}`;
    io.stdout.write(options['json'] === true ? jsonLine(json) : `${shown}\n`);
  }
  const { cases, failed, usd } = total;
  const cost = Number.isNaN(usd) ? '' : `, ${formatUsd(usd)}`;
  const words = `${cases - failed} of ${plural(cases, 'case')} passed${cost}\n`;
  io.stdout.write(options['json'] === true ? jsonLine({ total }) : words);
  return failed > 0 ? 1 : 0;
}

async function runCase(
  { files }: EvalDefinition,
  { prompt }: EvalCase,
  options: RawOptions,
  io: Io,
): Promise<CaseRun> {
  const dir = mkdtempSync(join(tmpdir(), 'cobbler-eval-'));
  const output: string[] = [];
  const quiet: Io = {
    ...io,
    stdin: { tty: true, read: async () => new Uint8Array() },
    stdout: { ...io.stdout, write: (text) => void output.push(text) },
    stderr: { ...io.stderr, tty: false, write: () => {} },
  };
  try {
    if (files !== undefined) cpSync(files, dir, { recursive: true });
    const exitCode = await run([prompt], { ...options, dir, json: true, session: false }, quiet);
    const lines = output.join('').split('\n');
    return { exitCode, ...whatHappened(lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function whatHappened(events: readonly RunEvent[]): Omit<CaseRun, 'exitCode'> {
  const responses = events.filter((event) => event.type === 'assistant');
  const calls = responses.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool_call' ? [part.toolName] : [])),
  );
  const last = responses.at(-1)?.content ?? [];
  const text = last.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const end = events.findLast((event) => event.type === 'finished');
  const usd = end?.metrics.usd;
  if (end?.status === 'complete') return { text, calls, usd };
  return { text, calls, usd, failure: end?.error?.message ?? `the run ended with ${end?.status}` };
}

/** Returns what a run did not do as expected, as clauses. */
function problemsOf(expected: EvalCase, { failure, text, calls, exitCode }: CaseRun): string[] {
  if (failure !== undefined) return [oneLine(failure)];
  const quoted = JSON.stringify(short(text));
  const lower = text.toLowerCase();
  const problems = [
    ...expected.contains
      .filter((part) => !lower.includes(part.toLowerCase()))
      .map((part) => `the response does not contain ${JSON.stringify(part)}: ${quoted}`),
    ...expected.matches
      .filter((pattern) => !new RegExp(pattern, 'u').test(text))
      .map((pattern) => `the response does not match ${pattern}: ${quoted}`),
    ...expected.calls.filter((name) => !calls.includes(name)).map((name) => `${name} was not called`),
    ...expected.notCalls.filter((name) => calls.includes(name)).map((name) => `${name} was called`),
  ].map(oneLine);
  const isDenied = problems.length > 0 && exitCode === denied;
  return isDenied ? [...problems, 'calls were denied: allow them with --allow or --yes'] : problems;
}

function short(text: string): string {
  const line = oneLine(text);
  return line.length > maxShown ? `${line.slice(0, maxShown - 1)}…` : line;
}
