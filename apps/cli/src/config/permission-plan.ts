import type { Environment } from '../terminal/io.ts';
import { Permission } from './permission.ts';
import { narrower, readProjectRules } from './project-rules.ts';
import type { RunFlags } from './run-flags.ts';

/** A permission, and what of the project's own file does not count in it. */
export interface PermissionPlan {
  readonly permission: Permission;
  readonly strange: readonly string[];
}

/**
 * What a run may do in a folder: what the command line says, narrowed by the project's file, and what the person has
 * allowed there for good.
 * @throws UsageError for a file that cannot be used, AgentError `invalid` for a rule that is none.
 */
export async function permissionIn(
  folder: string,
  { mode, allow }: Pick<RunFlags, 'mode' | 'allow'>,
  attended: boolean,
  env: Environment,
): Promise<PermissionPlan> {
  const project = await readProjectRules(folder, env);
  const permission = new Permission(
    narrower(mode, project.mode),
    [...allow, ...project.allow],
    attended,
    project.deny,
  );
  return { permission, strange: project.strange };
}
