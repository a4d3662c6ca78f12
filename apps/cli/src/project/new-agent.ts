import { cpSync, existsSync, renameSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { RawOptions } from '../config/run-flags.ts';
import { packageRoot } from '../package-root.ts';
import { jsonLine } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Runs `cobbler new agent NAME`: writes the smallest agent that works to a new folder. Returns the exit code. */
export function newAgent(
  [kind, name, ...more]: readonly string[],
  options: RawOptions,
  io: Pick<Io, 'cwd' | 'stdout' | 'env'>,
): number {
  if (kind !== 'agent' || more.length > 0)
    throw new UsageError(
      'cobbler new creates an agent: a folder with instructions and tools.',
      'Use: cobbler new agent NAME',
      'If it is a prompt: cobbler run new ...',
    );
  if (name === undefined || !/^[A-Za-z0-9][\w.-]*$/.test(basename(name)))
    throw new UsageError(
      name === undefined ? 'The name of the agent is missing.' : `${JSON.stringify(name)} is not a name.`,
      'Use letters, digits, "-", "_" and ".", for example: cobbler new agent helper',
    );
  const folder = resolve(io.cwd(), name);
  if (existsSync(folder))
    throw new UsageError(`${folder} already exists.`, 'Choose another name: cobbler new agent NAME');
  cpSync(new URL('templates/agent/', packageRoot), folder, { recursive: true, errorOnExist: true });
  const tool = join(folder, 'tools/count_words.ts');
  // A package that contains TypeScript claims to have types.
  renameSync(`${tool}.txt`, tool);
  const next = [
    `cobbler --agent ${name} "How many words are in: to be or not to be"`,
    `cobbler dev ${name}`,
    `cobbler info ${name}`,
    `cobbler eval ${name}`,
  ].map((line) => withProgramName(line, io.env));
  const lines = [
    `Created ${oneLine(folder)} with instructions.md, tools/count_words.ts, evals/count_words.jsonl and README.md.`,
    `Ask it:        ${next[0]}`,
    `Work on it:    ${next[1]}`,
    `Check it:      ${next[2]}`,
    `Test it:       ${next[3]}`,
  ];
  io.stdout.write(options['json'] === true ? jsonLine({ folder, next }) : `${lines.join('\n')}\n`);
  return 0;
}
