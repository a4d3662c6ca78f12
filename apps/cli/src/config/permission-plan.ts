import { defined } from '@cobbler/agent/values';
import { Permission } from '../permissions/permission.ts';
import type { DigestOf } from '../permissions/permission-rule.ts';
import type { Environment } from '../terminal/io.ts';
import { readProjectRules, stricterMode } from './project-rules.ts';
import type { RunFlags } from './run-flags.ts';

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
  { mode, allow }: Pick<RunFlags, 'mode' | 'allow'>,
  attended: boolean,
  env: Environment,
  digestOf?: DigestOf,
): Promise<PermissionPlan> {
  const project = await readProjectRules(folder, env);
  const permission = new Permission(
    stricterMode(mode, project.mode),
    [...allow, ...project.allow],
    attended,
    { deny: project.deny, ...defined({ digestOf }) },
  );
  return { permission, strange: project.strange };
}
