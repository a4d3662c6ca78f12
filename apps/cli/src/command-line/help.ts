import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { CommandRow } from './command-row.ts';
import { commandNames, commandRow, commands } from './command-table.ts';

const examples = [
  ['cobbler demo', 'see it work, without a key'],
  ['cobbler "fix the failing test"', 'asks before any change'],
  ['cobbler "why is this slow?" --read-only', 'reads only, changes nothing'],
  ['git diff | cobbler "review this" -m best', 'reads piped input too'],
  ['cobbler "add tests" --yes --max-usd 0.50', 'rarely asks, stops at a cost limit'],
] as const;

/** Commands that share a line of the help with another command. */
const besides: ReadonlySet<string> = new Set([
  ...['help', 'audit', 'deny', 'costs', 'budgets', 'mcp', 'permissions', 'restore', 'store', 'token'],
  ...['completion', 'trust', 'jobs', 'service', 'dev', 'info', 'eval', 'docs', 'explain'],
]);

/** Returns the help: examples first, then commands, common options, exit codes and environment. At most 40 lines. */
export function overview(): string {
  // Related commands share a line, so that the help fits on one screen.
  const visible = commands.filter(({ name }) => !besides.has(name));
  const together: Readonly<Record<string, string>> = {
    serve: 'serve        serve sessions over HTTP; token: manage who may use them',
    approve: 'approve/deny allow or deny waiting calls on the server; with no id, list them',
    sessions: 'sessions     list, show, export, fork, delete; audit: show approvals and calls',
    resume: 'resume       continue a session; jobs, service: runs in the background',
    models: 'models       list models, prices and keys; costs, budgets: show what was spent',
    config: 'config       show and change settings; permissions: show and test the rules',
    skills: 'skills       list skills, commands, agents; trust: use those of a project',
    new: 'new          create an agent folder; dev: work on it; info, eval: check it',
    doctor: 'doctor       check the setup; explain: an error code; docs: search; completion',
    backup: 'backup       back up all data; restore: restore a backup; store: find damage',
    acp: 'acp, mcp     work in an editor (Zed and others); serve tools to other agents',
  };
  const commandLine = ({ name, text }: CommandRow) => together[name] ?? `${name.padEnd(13)}${text}`;
  return [
    'cobbler lets a language model use tools on your files until a task is done.',
    '',
    ...examples.map(([line, text]) => `  ${line.padEnd(42)}${text}`),
    '',
    'Commands',
    ...visible.map((command) => `  ${commandLine(command)}`),
    '',
    'Common options of run (for all options: cobbler help run)',
    '  -m, --model NAME    fast, balanced, best, or provider:model',
    '  -C, --dir DIR       working directory    -f, --attach FILE   attach a file',
    '  --ask, --edits, --yes, --read-only   which calls need approval or are denied',
    "  --allow RULE        allow calls, such as 'run_command(npm test)'",
    '  --max-usd, --max-turns, --max-tokens, --timeout   limits',
    '  --json              events as JSON       -q, -v              less, more output',
    '',
    'Exit codes',
    '  0 complete; 1 failed or refused; 2 usage, configuration or key error;',
    '  3 limit reached; 5 approval needed, no terminal; 124 timed out; 130 cancelled',
    '',
    'Environment',
    '  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; COBBLER_AGENT_API_KEY',
    '  (default key); COBBLER_MODEL, COBBLER_HOME (~/.cobbler); NO_COLOR, HTTPS_PROXY',
  ].join('\n');
}

/** Returns the help of one command. */
export function commandHelp(command: CommandRow): string {
  const lines = [
    `cobbler ${command.name} ${command.operands.replaceAll('...', ' ...')}`.trimEnd(),
    `  ${command.text}`,
  ];
  if (command.about !== '') lines.push('', command.about);
  for (const group of command.groups) {
    const shown = group.options.filter(({ text }) => text !== '');
    lines.push('', group.title, ...shown.map((option) => `  ${option.flags.padEnd(25)}${option.text}`));
  }
  return lines.join('\n');
}

/** Prints the general help or the help of one command. @throws UsageError for an unknown command. */
export function help(name: string | undefined, io: Pick<Io, 'stdout'>): number {
  const command = name === undefined ? undefined : commandRow(name);
  if (name !== undefined && command === undefined) {
    throw new UsageError(
      `There is no command ${JSON.stringify(name)}.${didYouMean(name, commandNames)}`,
      'See: cobbler --help',
    );
  }
  io.stdout.write(`${command === undefined ? overview() : commandHelp(command)}\n`);
  return 0;
}
