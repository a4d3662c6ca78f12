import type { PermissionMode } from '../config/permission.ts';
import { permissionWords } from '../config/permission.ts';
import { readProjectRules, trustRules } from '../config/project-rules.ts';
import { visible } from '../terminal/escape.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { CommandContext } from './slash-command.ts';

const modes = Object.keys(permissionWords) as readonly PermissionMode[];

/** Shows what is asked, allowed and denied; changes the mode; makes the rules of the project's file count. */
export async function permissions({ host, say, style, io }: CommandContext, operand: string): Promise<void> {
  const { local } = host;
  if (local === undefined) {
    throw new UsageError(
      'The server decides which calls are allowed.',
      'Start it with other rules: cobbler serve --allow RULE',
    );
  }
  const { permission } = local;
  const project = await readProjectRules(host.folder, io.env);
  if (operand === 'trust') {
    trustRules(host.folder, project.strange, io.env);
    for (const rule of project.strange) permission.allow(rule);
    return say([style.dim(`${project.strange.length} rules of ${visible(project.path)} are now in effect`)]);
  }
  if (operand !== '') {
    const mode = modes.find((one) => one === operand);
    if (mode === undefined) {
      throw new UsageError(
        `Unknown mode ${JSON.stringify(operand)}.${didYouMean(operand, modes)}`,
        `Modes: ${modes.join(', ')}`,
      );
    }
    permission.mode = mode;
  }
  const { allow, deny } = permission.rules;
  const list = (name: string, rules: readonly string[]) =>
    rules.map((rule, index) => `  ${style.dim((index === 0 ? name : '').padEnd(8))}${visible(rule)}`);
  say([
    `  ${style.dim('mode'.padEnd(8))}${permission.mode}: ${permissionWords[permission.mode]}`,
    ...list('allow', allow),
    ...list('deny', deny),
    ...list('ignored', project.strange),
    ...(project.strange.length === 0
      ? []
      : [
          style.yellow(
            `  ignored: allowed by the project file, but not by you. To accept them: /permissions trust`,
          ),
        ]),
    style.dim(`  change the mode: /permissions ${modes.join('|')}`),
  ]);
}
