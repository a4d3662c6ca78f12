import { defined } from '@cobbler/agent/values';
import type { WebFetchOptions } from '@cobbler/tools/web';
import { Permission } from '../permissions/permission.ts';
import type { DigestOf } from '../permissions/permission-rule.ts';
import { webTool } from '../permissions/web-rule.ts';
import type { Environment } from '../terminal/io.ts';
import { readProjectRules, stricterMode } from './project-rules.ts';
import type { RunFlags } from './run-flags.ts';
import type { SandboxFlags } from './sandbox.ts';
import { allowedHosts } from './sandbox.ts';

/** Permissions, and the project rules that do not apply. */
export interface PermissionPlan {
  readonly permission: Permission;
  readonly strange: readonly string[];
}

/**
 * Returns the permissions of a run in a directory: those of the command line, restricted by the project's file, plus
 * the user's "always" rules for that directory.
 * @throws UsageError for an invalid file, AgentError `invalid` for an invalid rule.
 */
export async function permissionIn(
  folder: string,
  flags: Pick<RunFlags, 'mode' | 'allow'> & Pick<SandboxFlags, 'allowHost'>,
  attended: boolean,
  env: Environment,
  digestOf?: DigestOf,
): Promise<PermissionPlan> {
  const project = await readProjectRules(folder, env);
  const permission = new Permission(
    stricterMode(flags.mode, project.mode),
    [...flags.allow, ...hostRules(await allowedHosts(flags, env)), ...project.allow],
    attended,
    { deny: project.deny, ...defined({ digestOf }) },
  );
  return { permission, strange: project.strange };
}

/** Returns the rules for web pages on hosts that the user allows. */
export function hostRules(hosts: readonly string[]): string[] {
  return hosts.map((host) => `${webTool}(${host})`);
}

/** Returns what web_fetch can reach: the allowed hosts, and by redirects what permissions allow without asking, or the same host. */
export function webAccess(allowHosts: readonly string[], permission: () => Permission): WebFetchOptions {
  const mayFollow = (url: string, isSame: boolean) => {
    const call = { toolName: webTool, subject: url, effect: 'idempotent', arguments: { url } } as const;
    const { type } = permission().decide(call);
    return type === 'allow' || (isSame && type === 'ask');
  };
  return { allowHosts, mayFollow };
}
