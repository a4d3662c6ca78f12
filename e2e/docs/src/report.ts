// The output: each command when it ends, a line for each page, and the commands that did not run with the reason.
import type { Command } from './commands.ts';
import type { Outcome } from './page-run.ts';

/** Formats one line for a command that has ended. */
export function lineOf({ command, verdict, why, ms }: Outcome): string {
  const place = `${command.page}:${command.line}`;
  const text = nameOf(command);
  const words = { passed: 'ok', failed: 'FAILED', apart: 'not run', again: 'as before' }[verdict];
  const reason = verdict === 'failed' ? `\n      ${why ?? ''}` : '';
  return `  ${words.padEnd(9)} ${(ms / 1000).toFixed(1).padStart(5)} s  ${place.padEnd(32)} ${text}${reason}`;
}

function nameOf({ text, program }: Command): string {
  const line = text.replaceAll(/\s*\\?\n\s*/g, ' ').slice(0, 90);
  return program === undefined ? line : `program: ${line}`;
}

/** Formats the table of pages, and the commands that did not run, by reason. */
export function summaryOf(outcomes: readonly Outcome[]): string {
  const count = (some: readonly Outcome[], ...verdicts: readonly Outcome['verdict'][]) =>
    some.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const row = (name: string, some: readonly Outcome[]) => {
    const figures = [
      count(some, 'passed', 'failed'),
      count(some, 'passed'),
      count(some, 'again'),
      count(some, 'apart'),
    ];
    return `${name.padEnd(40)}${figures.map((figure) => String(figure).padStart(11)).join('')}`;
  };
  const pages = Map.groupBy(outcomes, ({ command }) => command.page);
  const apart = Map.groupBy(
    outcomes.filter(({ verdict }) => verdict === 'apart'),
    ({ why }) => why ?? '',
  );
  return [
    `${'page'.padEnd(40)}        run     passed  as before    not run`,
    ...[...pages].map(([page, some]) => row(page, some)),
    row('all', outcomes),
    '',
    'Not run:',
    ...[...apart].flatMap(([why, some]) => [
      `  ${why}`,
      ...[...new Set(some.map(({ command }) => nameOf(command)))].map((text) => `      ${text}`),
    ]),
  ].join('\n');
}
