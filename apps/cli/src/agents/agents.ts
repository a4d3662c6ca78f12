import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { AgentError, defineTool, toolOutput } from '@cobbler/agent';
import type { AgentTool } from '@cobbler/delegate/agent-tool';
import { agentToolName } from '../permissions/permission.ts';
import type { Environment } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AgentPlan, ProgramName } from './agent-plan.ts';
import { programs } from './agent-plan.ts';
import type { SubAgent } from './definitions.ts';
import { toolsOf } from './definitions.ts';

/** Maximum number of agents that work at the same time for one response. */
const maxParallel = 4;

/** A user can take a day to answer a question; the tasks have their own limits. */
const timeoutMs = 86_400_000;

/** Maximum number of conversations whose agents can be continued. */
const maxConversations = 50;

interface AgentCall {
  readonly agent?: string;
  readonly task?: string;
  readonly background?: boolean;
  readonly id?: string;
  readonly action?: 'wait' | 'stop';
}

/** The tool `agent` as users see it, for a display of calls. */
export const agentFace: Tool = {
  name: agentToolName,
  description: '',
  parameters: { type: 'object' },
  subject: ({ agent, id, action, task }: AgentCall) => {
    const who = [action, agent ?? id ?? 'list'].filter((word) => word !== undefined).join(' ');
    return task === undefined ? who : `${who}: ${oneLine(task)}`;
  },
  execute: () => undefined,
};

/** The agents that the model of a run can give tasks to. What they need is loaded with the first task. */
export class Agents {
  readonly #plan: AgentPlan;
  /** The engine of each conversation, so that none sees the tasks of another one. */
  readonly #engines = new Map<string, Promise<AgentTool>>();

  constructor(plan: AgentPlan) {
    this.#plan = plan;
  }

  /** Returns the tools with the tool `agent` for sub-agents that have the others, if it is one of them. */
  over(tools: readonly Tool[]): readonly Tool[] {
    const others = tools.filter(({ name }) => name !== agentToolName);
    return others.length === tools.length ? tools : [...others, this.tool(others)];
  }

  /** Returns the tool `agent` for sub-agents that have parts of these tools. */
  tool(tools: readonly Tool[]): Tool {
    const { definitions, programs: installed } = this.#plan;
    const theirs = definitions.flatMap((one) => toolsOf(one, tools));
    const onlyReads = installed.length === 0 && theirs.every(({ effect }) => effect === 'read');
    return defineTool<AgentCall>({
      ...agentFace,
      description: descriptionOf(definitions, installed),
      parameters: parametersOf([...definitions.map(({ name }) => name), ...installed]),
      effect: onlyReads ? 'read' : 'once',
      sends: installed.length > 0 || theirs.some(({ sends }) => sends),
      concurrency: maxParallel,
      timeoutMs,
      execute: async (call, context) => {
        const engine = await this.#engineOf(context.sessionId ?? '', tools);
        return readable(await engine.execute(orderOf(call, installed), context), installed);
      },
    });
  }

  /** Stops and forgets the agents of a conversation. */
  async forget(session: string): Promise<void> {
    const engine = this.#engines.get(session);
    this.#engines.delete(session);
    await (await engine)?.close();
  }

  /** Stops everything that the agents still do. */
  async close(): Promise<void> {
    await Promise.all([...this.#engines.values()].map(async (engine) => (await engine).close()));
  }

  #engineOf(session: string, tools: readonly Tool[]): Promise<AgentTool> {
    const opened =
      this.#engines.get(session) ??
      import('./engine.ts').then(({ openEngine }) => openEngine(this.#plan, session, tools));
    // The one that was used last is the last.
    this.#engines.delete(session);
    this.#engines.set(session, opened);
    const [oldest = ''] = this.#engines.keys();
    if (this.#engines.size > maxConversations) void this.forget(oldest);
    return opened;
  }
}

/** Returns the arguments of the delegating tool for a call. @throws AgentError for arguments without a meaning. */
function orderOf(
  { agent, task, background, id, action }: AgentCall,
  installed: readonly ProgramName[],
): Record<string, unknown> {
  const work = { prompt: task, ...(background === true && { async: true }) };
  if (id === undefined && action === undefined) {
    if (agent === undefined && task === undefined) return { action: 'list' };
    if (agent === undefined || task === undefined)
      throw refusal('To start an agent, pass `agent` and `task`.');
    return { action: 'create', backend: backendOf(agent, installed), ...work };
  }
  if (id === undefined) throw refusal(`To ${action} an agent, pass its id.`);
  if (task !== undefined) return { action: 'send', session_id: id, ...work };
  const actions = { wait: 'wait', stop: 'destroy' } as const;
  return { action: action === undefined ? 'status' : actions[action], session_id: id };
}

function refusal(message: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'missing_argument', message });
}

function backendOf(name: string, installed: readonly ProgramName[]): string {
  const program = installed.find((one) => one === name);
  return program === undefined ? name : programs[program];
}

interface Report {
  readonly session_id: string;
  readonly backend: string;
  readonly status: string;
  readonly result: string;
}

/** Returns the report of the delegating tool as text. What programs write can come from the web. */
function readable(output: unknown, installed: readonly ProgramName[]): unknown {
  const { content, ...rest } = output as { readonly content: string; readonly untrusted?: true };
  const given = JSON.parse(content) as Report | readonly Report[];
  const reports = 'session_id' in given ? [given] : given;
  const names: readonly string[] = installed.map((name) => programs[name]);
  const isForeign = reports.some(({ backend }) => names.includes(backend));
  const text = reports.map(({ session_id: id, backend, status, result }) => {
    return `[${backend} ${id}: ${status}]\n${result}`.trim();
  });
  return toolOutput({
    ...rest,
    content: text.join('\n\n') || 'No agent was started.',
    ...((isForeign || rest.untrusted === true) && { untrusted: true }),
  });
}

function descriptionOf(definitions: readonly SubAgent[], installed: readonly ProgramName[]): string {
  const own = definitions.map(({ name, description }) => `- ${name}: ${description}`);
  const foreign = { claude: 'Claude Code', codex: 'Codex' };
  return [
    'Gives a whole task to another agent, which works on its own, and returns its last response. ' +
      `Up to ${maxParallel} calls of one response run at the same time. Agents:`,
    ...own,
    ...installed.map((name) => `- ${name}: ${foreign[name]}, another coding agent with its own tools.`),
    'To start an agent, pass `agent` and `task`. With the `id` from its result, pass a `task` to continue it, or no `task` for its ' +
      'status. Without arguments, lists the agents that were started.',
  ].join('\n');
}

function parametersOf(names: string[]) {
  const string = (description: string) => ({ type: 'string', description });
  return {
    type: 'object',
    properties: {
      agent: { type: 'string', enum: names },
      task: string('Everything that the agent needs to know: it does not see this conversation.'),
      background: {
        type: 'boolean',
        description: 'Return at once, and get the result later. Such an agent cannot ask the user.',
      },
      id: string('The id of an agent that was started, such as as-1.'),
      action: { type: 'string', enum: ['wait', 'stop'], description: 'Wait for the agent, or end it.' },
    },
    additionalProperties: false,
  };
}

/** Returns the programs to offer: the given ones, otherwise those that are installed. @throws UsageError for an unknown name. */
export function programsFor(given: readonly string[] | undefined, env: Environment): ProgramName[] {
  const names = Object.keys(programs) as ProgramName[];
  const unknown = given?.find((name) => !(name in programs));
  if (unknown !== undefined)
    throw new UsageError(
      `--delegate: unknown program ${JSON.stringify(unknown)}.`,
      `Use ${names.join(', ')} or none.`,
    );
  return names.filter((name) => given?.includes(name) ?? isInstalled(name, env));
}

function isInstalled(program: string, env: Environment): boolean {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
