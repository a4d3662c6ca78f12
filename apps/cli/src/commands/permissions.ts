import { defined } from '@cobbler/agent/values';
import type { WorkspaceToolsOptions } from '@cobbler/tools';
import { ownTools } from '../config/choose-tools.ts';
import { workFolder } from '../config/directory.ts';
import { permissionIn } from '../config/permission-plan.ts';
import { readProjectRules, removeRule } from '../config/project-rules.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { sandboxIn } from '../config/sandbox.ts';
import { readSettings } from '../config/settings.ts';
import type { PermissionDecision } from '../permissions/permission.ts';
import { permissionWords } from '../permissions/permission.ts';
import { webTool } from '../permissions/web-rule.ts';
import { noteRule, openAudit } from '../session/audit.ts';
import { jsonLine } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

const actions = ['remove', 'test'];

/** Runs `cobbler permissions`: lists, removes or tests the rules of a directory. Returns the exit code. */
export async function permissions(
  [action, ...operands]: readonly string[],
  options: RawOptions,
  io: Io,
): Promise<number> {
  const flags = readRunFlags(options);
  const folder = workFolder(flags.dir, io);
  const operand = operands.join(' ');
  const isJson = options['json'] === true;
  if (action === undefined) return await list(folder, isJson, io);
  if (!actions.includes(action))
    throw new UsageError(
      `permissions has no action ${JSON.stringify(action)}.${didYouMean(action, actions)}`,
      'See: cobbler help permissions',
    );
  if (operand === '')
    throw new UsageError(`permissions ${action} requires an argument.`, 'See: cobbler help permissions');
  if (action === 'remove') return await remove(folder, operand, io);
  const { permission } = await permissionIn(folder, flags, true, io.env);
  const sandbox = await sandboxIn(folder, flags, io);
  const decision = permission.decide(
    callOf(operand, { root: folder, sandbox, environment: io.env }, options),
  );
  const lines = `${decisionLines(decision).map(oneLine).join('\n')}\n`;
  io.stdout.write(isJson ? jsonLine(decision) : lines);
  return 0;
}

async function list(folder: string, isJson: boolean, io: Io): Promise<number> {
  const project = await readProjectRules(folder, io.env);
  const { allow, deny, strange, outdated, mode = 'ask' } = project;
  if (isJson) {
    io.stdout.write(jsonLine({ mode, allow, deny, ignored: [...strange, ...outdated] }));
    return 0;
  }
  const lines = [
    ['mode', `${mode}: ${permissionWords[mode]}`],
    ...allow.map((rule) => ['allow', rule]),
    ...deny.map((rule) => ['deny', rule]),
    ...strange.map((rule) => ['ignored', `${rule}  (not accepted on this machine)`]),
    ...outdated.map((rule) => [
      'ignored',
      `${rule}  (give the complete command, without *, or add a digest)`,
    ]),
  ];
  io.stdout.write(`${lines.map(([name = '', text = '']) => `${name.padEnd(8)}${oneLine(text)}\n`).join('')}`);
  return 0;
}

async function remove(folder: string, rule: string, io: Io): Promise<number> {
  if (!(await removeRule(folder, rule, io.env)))
    throw new UsageError(`There is no allow rule ${rule}.`, 'List the rules: cobbler permissions');
  const audit = openAudit('permissions', (await readSettings(io.env)).file.values, io);
  noteRule(audit, 'removed', rule);
  await audit.close();
  io.stdout.write(`removed ${oneLine(rule)}\n`);
  return 0;
}

/** Returns the call to test, as a run would submit it: of the tool that the text names, otherwise of the command. */
function callOf(text: string, workspace: WorkspaceToolsOptions, options: RawOptions) {
  const { allowGuarded } = readRunFlags(options);
  const tools = ownTools({ ...workspace, allowGuarded });
  const [, name, argument = ''] = /^(\w+)\((.*)\)$/s.exec(text) ?? [];
  const named = tools.find((one) => one.name === name);
  const tool = named ?? tools.find((one) => one.name === 'run_command');
  const subject = named === undefined ? text : argument;
  const directory = typeof options['in'] === 'string' ? options['in'] : undefined;
  const [, command = subject, needs] = /^(.*) \[needs (network|registry|all)\]$/s.exec(subject) ?? [];
  const given =
    tool?.name === 'run_command'
      ? { command, ...defined({ directory, needs }) }
      : { [tool?.name === webTool ? 'url' : 'path']: subject };
  return {
    toolName: tool?.name ?? 'run_command',
    subject: tool?.subject?.(given) ?? subject,
    effect: tool?.effect ?? 'once',
    arguments: given,
    ...defined({ mustAsk: tool?.mustAsk?.(given) }),
  };
}

function decisionLines({ type, why, rules }: PermissionDecision): string[] {
  const words = { allow: 'runs without asking', ask: 'asks you', deny: 'is denied' };
  return [`${words[type]}: ${why}`, ...rules.map((rule) => `rule: ${rule}`)];
}
