import type { JsonObject } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { oneOf, withMethods } from '@cobbler/agent/input';
import type { Workspace } from '@cobbler/agent/node';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { createSandbox, isGitLine, isRegistryLine, noRestrictions } from '@cobbler/agent/sandbox';
import { agentFiles } from './workspace/file-tool.ts';

/**
 * The restrictions of commands. `workspace`: they can write only in the workspace, and have neither the home directory
 * nor a network. `strict`: they cannot write in the workspace either. `external`: this machine is already a sandbox, such
 * as a container. `off`: they have all rights of this user.
 */
export type CommandSandbox = 'workspace' | 'strict' | 'external' | 'off' | Sandbox;

const mode = oneOf('workspace', 'strict', 'external', 'off');
const instance = withMethods<Sandbox>('enter', 'with', 'explain');

/** Reads a sandbox or the name of one. */
export const readSandbox: Reader<CommandSandbox> = (value) =>
  typeof value === 'object' ? instance(value) : mode(value);

/**
 * Returns the sandbox for the commands of a workspace.
 * @throws AgentError `invalid` with the code `no_sandbox` if there is none on this machine.
 */
export function openSandbox(
  given: CommandSandbox,
  { root }: Workspace,
  env: Readonly<Record<string, string | undefined>>,
): Sandbox {
  if (typeof given === 'object') return given;
  if (given === 'external' || given === 'off') return noRestrictions(given);
  return createSandbox({ workspace: root, mode: given, env, guarded: agentFiles });
}

/** What a command needs that its sandbox does not grant: a network, a network and the login to a registry, or everything. */
export type CommandNeed = 'network' | 'registry' | 'all';

/** What one command wants. */
interface CommandRights {
  readonly command: string;
  readonly needs?: CommandNeed;
  readonly reason?: string;
}

/** The arguments with which the model requests more rights for one command. */
export const needsFields: JsonObject = {
  needs: {
    type: 'string',
    enum: ['network', 'registry', 'all'],
    description:
      'Permissions that the sandbox does not grant and that the command cannot work without: "network", "registry" for the network and the credentials in ~/.npmrc (only for npm, pnpm and yarn commands that install or look up packages), or "all" to run it without the sandbox. The user is asked. Give a reason.',
  },
  reason: { type: 'string', description: 'Why the command needs these permissions.' },
};

/** Returns the sandbox for one command; undefined for none. */
export function sandboxFor(
  sandbox: Sandbox,
  command: string,
  need: CommandNeed | undefined,
): Sandbox | undefined {
  if (need === 'all') return undefined;
  const registry = need === 'registry' && isRegistryLine(command);
  return sandbox.with({ ...(need !== undefined && { network: true }), registry, git: isGitLine(command) });
}

/** Returns why a user must decide on a command; undefined if its sandbox is enough. */
export function whyAsk(sandbox: Sandbox, { command, needs, reason = '' }: CommandRights): string | undefined {
  if (needs === undefined || !isConfined(sandbox)) return sandbox.missing;
  const login =
    needs === 'registry' && isRegistryLine(command) ? ' and your login to the registry in ~/.npmrc' : '';
  const what =
    needs === 'all' ? 'run without the sandbox, with all your permissions' : `use the network${login}`;
  return `This command wants to ${what}. Reason: ${reason.trim() === '' ? 'none given' : JSON.stringify(reason.slice(0, 500))}`;
}

/** Returns whether a sandbox restricts programs. */
export function isConfined({ kind }: Sandbox): boolean {
  return kind === 'bwrap' || kind === 'seatbelt';
}
