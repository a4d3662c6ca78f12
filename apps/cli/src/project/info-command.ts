import type { AgentFolder } from '@cobbler/agent/definitions';
import { defined } from '@cobbler/agent/values';
import { shortPath } from '../config/directory.ts';
import { serverWords } from '../config/mcp-servers.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { jsonLine } from '../terminal/escape.ts';
import { formatTime, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { openAgent } from './agent-folder.ts';

/** Runs `cobbler info [folder]`: shows what an agent has and what of its folder is not used. Returns the exit code. */
export async function info(
  folder: string = '.',
  options: RawOptions,
  io: Io,
  now: () => number = Date.now,
): Promise<number> {
  const agent = await openAgent(folder, io, true);
  const ok = !agent.unused.some(({ isBroken }) => isBroken);
  const next = ok
    ? `Use it: cobbler --agent ${folder} "..."`
    : 'Correct the errors, and run this command again.';
  const text = [...agentLines(agent, now(), io), '', withProgramName(next, io.env)].join('\n');
  io.stdout.write(options['json'] === true ? jsonLine({ ok, ...facts(agent, now()) }) : `${text}\n`);
  return ok ? 0 : 2;
}

/** The settings of MCP servers can contain keys. */
function facts(
  { options: _, mcp, tools, skills, agents, schedules, ...agent }: AgentFolder,
  now: number,
): Record<string, unknown> {
  return {
    ...agent,
    tools: tools.map(({ name, description, effect = 'once', parameters }) => ({
      ...{ name, description, effect, parameters },
    })),
    skills: skills.map(({ name, description, path }) => ({ name, description, path })),
    agents: agents.map(({ name, description, path, tools: names, model }) => ({
      ...{ name, description, path, ...defined({ tools: names, model }) },
    })),
    mcp: Object.entries(mcp).map(([name, server]) => ({ name, server: serverWords(server) })),
    schedules: schedules.map(({ name, path, cron, timezone, next }) => ({
      ...{ name, path, cron, timezone, next: new Date(next(now) ?? Number.NaN) },
    })),
  };
}

/** Returns a line for each part of an agent. */
function agentLines(agent: AgentFolder, now: number, { env }: Pick<Io, 'env'>): string[] {
  const { name, folder, description = '', model, instructions, hostTools, unused } = agent;
  const row = (kind: string, ...words: readonly string[]) =>
    `  ${[kind.padEnd(12), ...words.map((word, index) => oneLine(word).padEnd(index === 0 ? 24 : 0))].join(' ').trimEnd()}`;
  return [
    oneLine(`${name}  ${shortPath(folder, env)}  ${description}`),
    row('instructions', 'instructions.md', plural(instructions.split('\n').length, 'line')),
    ...(model === undefined ? [] : [row('model', model)]),
    ...agent.tools.map((tool) =>
      row('tool', tool.name, `${tool.effect === 'read' ? 'reads' : 'asks '}  ${tool.description}`),
    ),
    ...hostTools.map((one) => row('tool', one, 'a tool of Cobbler')),
    ...agent.skills.map((skill) => row('skill', skill.name, skill.description)),
    ...agent.agents.map((one) => row('agent', one.name, one.description)),
    ...Object.entries(agent.mcp).map(([server, config]) => row('MCP server', server, serverWords(config))),
    ...agent.schedules.map(({ name: own, cron, timezone, next }) =>
      row('schedule', own, `${cron}  next: ${formatTime(next(now), timezone)}`),
    ),
    ...agent.evals.map(({ name: own, cases }) => row('evals', own, plural(cases.length, 'case'))),
    ...agent.channels.map((one) =>
      row(
        'channel',
        one.name,
        one.kind === 'module' ? 'a module' : `the token in ${one.token}, ${plural(one.users.length, 'user')}`,
      ),
    ),
    ...unused.map(({ path, line, reason, isBroken }) =>
      row(isBroken ? 'error' : 'not used', `${path}${line === undefined ? '' : `:${line}`}`, reason),
    ),
  ];
}
