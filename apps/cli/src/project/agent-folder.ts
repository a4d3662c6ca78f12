import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { AgentFolder } from '@cobbler/agent/definitions';
import { defined } from '@cobbler/agent/values';
import type { RunFlags } from '../config/run-flags.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';

/**
 * Loads the agent that the command line names, which runs its code. Nothing else names one: a project and a stored session
 * can only contain a folder, and then a line says how to use it.
 * @throws AgentError `invalid`, code `agent_folder`, if it cannot be loaded.
 */
export async function withAgent(given: RunFlags, io: Io, note?: SessionMetadata): Promise<RunFlags> {
  const say = (line: string) => io.stderr.write(`cobbler: ${oneLine(line)}\n`);
  const flags = await reloadAgent(given, io);
  const { unused = [], folder } = flags.agentFolder ?? {};
  // Modules that tools and channels import are in subfolders.
  if (unused.some(({ path }) => !/^(tools|channels)\//.test(path)))
    say(`some files of the agent are not used. To list them: cobbler info ${folder}`);
  if (flags.agent === undefined && note?.agent !== undefined)
    say(`this session used an agent, which is not loaded. To use it: --agent ${note.agent}`);
  return flags;
}

/**
 * Returns the options with the agent as it is now. The files of the project and of the user are then not used, because an
 * agent is the same everywhere.
 */
export async function reloadAgent(flags: RunFlags, io: Pick<Io, 'cwd' | 'env'>): Promise<RunFlags> {
  if (flags.agent === undefined) return flags;
  const agentFolder = await openAgent(flags.agent, io);
  const { model } = agentFolder;
  const isNamed = flags.model !== undefined || Boolean(io.env['COBBLER_MODEL']?.trim());
  return { ...flags, contextFiles: false, agentFolder, ...(isNamed ? {} : defined({ model })) };
}

/** Returns the name of the files that belong to an agent, and to one more thing, in the home directory. */
export function agentKey({ name, folder }: AgentFolder, other: string = ''): string {
  const digest = createHash('sha256')
    .update(folder + other)
    .digest('hex');
  return `${name}-${digest.slice(0, 8)}`;
}

/** Reads the agent of a folder. A broken file is an error, unless `lists` is true: then it is listed. */
export async function openAgent(
  given: string,
  io: Pick<Io, 'cwd'>,
  lists: boolean = false,
): Promise<AgentFolder> {
  const [definitions, { moduleLoader }] = await Promise.all([
    import('@cobbler/agent/definitions'),
    import('./module-loader.ts'),
  ]);
  const read = lists ? definitions.readAgentFolder : definitions.loadAgent;
  return await read(resolve(io.cwd(), given), { importModule: moduleLoader() });
}
