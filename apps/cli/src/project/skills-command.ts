import { workFolder } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { jsonLine } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { decide, definitionLines, findDefinitions } from './found-definitions.ts';

/** Runs `cobbler skills`: lists the skills, commands and agents for a directory. Returns the exit code. */
export async function listSkills(options: RawOptions, io: Io): Promise<number> {
  const dir = typeof options['dir'] === 'string' ? options['dir'] : undefined;
  const found = await findDefinitions(workFolder(dir, io), true, io.env);
  if (options['json'] === true) {
    const rows = found.rows.map(({ definition: { kind, name, description, path }, state }) => ({
      ...{ kind, name, description, path, state },
    }));
    io.stdout.write(jsonLine({ found: rows, skipped: found.skipped }));
    return 0;
  }
  const unused = found.skipped.map(({ path, reason }) => `  not used: ${oneLine(path)}: ${oneLine(reason)}`);
  const lines = [...definitionLines(found, found.rows, io.env), ...unused];
  io.stdout.write(`${lines.join('\n') || 'No skills, commands, agents or hooks were found.'}\n`);
  return 0;
}

/** Runs `cobbler trust`: accepts what a project contains now. Returns the exit code. */
export async function trust(dir: string | undefined, io: Io): Promise<number> {
  const found = await findDefinitions(workFolder(dir, io), true, io.env);
  const open = found.rows.filter(({ state }) => state !== 'own' && state !== 'trusted');
  decide(found, open, true, io.env);
  const title = open.length === 0 ? 'There is nothing new to trust.' : `Trusted in ${oneLine(found.root)}:`;
  io.stdout.write(`${[title, ...definitionLines(found, open, io.env)].join('\n')}\n`);
  return 0;
}
