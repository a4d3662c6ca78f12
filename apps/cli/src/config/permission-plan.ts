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
 * The permissions of a run in a directory: those of the command line, restricted by the project's file, plus what the
 * user has always allowed there.
 * @throws UsageError for an invalid file, AgentError `invalid` for an invalid rule.
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
