import type { Tool } from '@cobbler/agent';
import type { AgentFolder } from '@cobbler/agent/definitions';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { BackgroundCommands, WorkspaceToolsOptions } from '@cobbler/tools';
import { workspaceTools } from '@cobbler/tools';
import { planToolName, todosTool } from '@cobbler/tools/planning';
import { waitTool } from '@cobbler/tools/wait';
import type { WebFetchOptions } from '@cobbler/tools/web';
import { webFetchTool } from '@cobbler/tools/web';
import { agentToolName } from '../permissions/permission.ts';
import { isTooWide, readRule } from '../permissions/permission-rule.ts';
import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { ContextPlan } from './context-plan.ts';
import { offloadedCommandBytes } from './context-plan.ts';
import type { RunFlags } from './run-flags.ts';

/**
 * Returns the tools that the command line has without MCP servers.
 * @param agent the tool that gives tasks to other agents. Default: there is none.
 */
export function ownTools(options: WorkspaceToolsOptions, web?: WebFetchOptions, agent?: Tool): Tool[] {
  const all = [...workspaceTools(options), waitTool(), todosTool(), webFetchTool(web)];
  return agent === undefined ? all : [...all, agent];
}

/**
 * Returns those of our tools that an agent of a folder uses; without one, all of them.
 * @throws UsageError if it names an unknown tool, or has a tool with the name of one of ours, to which special rules apply.
 */
export function toolsBeside(agent: AgentFolder | undefined, own: readonly Tool[]): readonly Tool[] {
  if (agent === undefined) return own;
  const known = own.map(({ name }) => name);
  const special = [...known, agentToolName, planToolName];
  const same = agent.tools.find(({ name }) => special.includes(name));
  if (same !== undefined)
    throw new UsageError(
      `The agent ${agent.name} has a tool named ${same.name}, which is the name of a built-in tool.`,
      'Rename the file of the tool.',
    );
  const unknown = agent.hostTools.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `${agent.folder}/instructions.md: unknown tool ${JSON.stringify(unknown)}.${didYouMean(unknown, known)}`,
      `Known: ${known.join(', ')}`,
    );
  return pickTools(own, [...agent.hostTools, agentToolName]);
}

/** Returns the tools of the assistant, whose turns do not wait. */
export function assistantTools(options: WorkspaceToolsOptions): Tool[] {
  return ownTools(options).filter((tool) => tool.waitUntil === undefined);
}

/** Returns the workspace. Output of a command that is not offloaded is cut at once, because the rest could not be read. */
export function workspaceOf(
  root: string,
  { allowGuarded }: RunFlags,
  { spillAbove }: ContextPlan,
  sandbox: Sandbox,
  background: BackgroundCommands | undefined,
  io: Io,
): WorkspaceToolsOptions {
  const room = spillAbove === 0 ? {} : { maxOutputBytes: offloadedCommandBytes };
  return { root, allowGuarded, environment: io.env, sandbox, ...room, ...defined({ background }) };
}

/** Returns the tools with these names. @throws UsageError for an unknown name. */
export function chooseTools(all: readonly Tool[], names: readonly string[] | undefined): readonly Tool[] {
  if (names === undefined) return all;
  const known = all.map((tool) => tool.name);
  for (const name of names) {
    if (!all.some((tool) => isNamed(tool, name))) {
      throw new UsageError(
        `Unknown tool ${JSON.stringify(name)}.${didYouMean(name, known)}`,
        `Known: ${known.join(', ')}`,
      );
    }
  }
  return pickTools(all, names);
}

/** Returns the tools with these names and ignores unknown names. */
export function pickTools(all: readonly Tool[], names: readonly string[] | undefined): readonly Tool[] {
  return names === undefined ? all : all.filter((tool) => names.some((name) => isNamed(tool, name)));
}

/** True if the name is that of the tool, or that of its MCP server, as in `mcp__github`. */
function isNamed(tool: Tool, name: string): boolean {
  return tool.name === name || (name.startsWith('mcp__') && tool.name.startsWith(`${name}__`));
}

/** Checks that each rule matches a tool; otherwise it would silently allow nothing. */
export function checkRules(rules: readonly string[], tools: readonly Tool[]): void {
  const known = tools.map((tool) => tool.name);
  for (const rule of rules) {
    const [name = ''] = rule.split('(');
    if (!/^[^()]+(\([\s\S]*\)( @\w+)?)?$/.test(rule.trim())) {
      throw UsageError.withCode(
        'bad_rule',
        `--allow ${JSON.stringify(rule)} does not have the form "tool" or "tool(pattern)".`,
        "For example: --allow 'run_command(npm test)'",
      );
    }
    if (isTooWide(readRule(rule, 'allow'))) {
      throw UsageError.withCode(
        'bad_rule',
        `--allow ${JSON.stringify(rule)} allows nothing: a rule must name a command with all its arguments, or the host of a web page.`,
        "For example: --allow 'run_command(npm test)' or --allow 'web_fetch(*.example.com)'. See docs/permissions.md.",
      );
    }
    if (name.includes('*') || known.includes(name.trim())) continue;
    throw new UsageError(
      `--allow ${JSON.stringify(rule)} matches no tool in this run.${didYouMean(name.trim(), known)}`,
      `For example: --allow 'run_command(npm test)'. Tools: ${known.join(', ') || 'none'}`,
    );
  }
}
