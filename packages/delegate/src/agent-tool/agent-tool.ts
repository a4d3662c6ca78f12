import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Gate, Limits, Pricing, Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { AgentError, defineTool, toolOutput } from '@cobbler/agent';
import {
  amount,
  callable,
  flag,
  listOf,
  mapOf,
  read,
  record,
  text,
  when,
  withMethods,
} from '@cobbler/agent/input';
import { cobblerHome, Workspace } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { Backend, BackendResult, DelegatePermission } from '../backend/backend.ts';
import { readBackend, readPermission } from '../backend/backend.ts';
import { claudeCode } from '../claude/claude-code.ts';
import type { ProgramOptions } from '../cli/program-options.ts';
import { defaultTimeoutMs } from '../cli/program-options.ts';
import { readProgramSandbox } from '../cli/program-sandbox.ts';
import { codex } from '../codex/codex.ts';
import type { RegisteredSession } from './session-registry.ts';
import { SessionRegistry } from './session-registry.ts';
import { refusal, Sessions } from './sessions.ts';

/** Options of {@link createAgentTool}. */
export interface AgentToolOptions
  extends Pick<ProgramOptions, 'timeoutMs' | 'sandbox' | 'sandboxed' | 'env' | 'runtime'> {
  /** The directory that all sessions are restricted to. */
  readonly workspace: string;
  /** Backends to choose from. Default: Claude Code and Codex, with the permission below. */
  readonly backends?: readonly Backend[];
  /** Maximum number of sessions. Finished ones count until they are destroyed. Default 8. */
  readonly maxSessions?: number;
  /**
   * Maximum cost and tokens of one session, in total over all its tasks and their attempts, also after a restart. The limits of
   * the calling run apply too. Default: none.
   */
  readonly sessionLimits?: Pick<Limits, 'usd' | 'tokens'>;
  /** Permissions of the backends; no call can change them. Default `read-only`. */
  readonly permission?: DelegatePermission;
  /**
   * With permission `gate`: decides on each call of the programs. A verdict that would ask the user denies the
   * call, unless the tool `asks`.
   */
  readonly gate?: Gate;
  /**
   * True if users can decide on calls during the run: what the gate wants to ask is then a question of the tool call.
   * A task in the background cannot ask. Default false.
   */
  readonly asks?: boolean;
  /**
   * Names of tools of the programs, such as `WebSearch`, that can send data, and whose output is trusted. Default: none.
   */
  readonly trusted?: readonly string[];
  /**
   * Where sessions are stored, so that they continue after a restart. Default: a file per workspace in the directory
   * of `cobblerHome`. Null: in memory.
   */
  readonly sessionsFile?: string | null;
  /** Prices of tasks, by name, for backends that do not report their cost. */
  readonly pricing?: Pricing;
  /** True to run tasks of unknown price under a cost limit. Default false. */
  readonly allowUnpriced?: boolean;
}

/** The `agent` tool, and the function that stops its tasks. */
export interface AgentTool extends Tool {
  /** Stops every task, including those in the background. Resolves when none is running. */
  close(): Promise<void>;
}

interface AgentArgs {
  readonly action: 'create' | 'send' | 'status' | 'wait' | 'list' | 'destroy';
  readonly backend?: string;
  readonly prompt?: string;
  readonly working_dir?: string;
  readonly system_prompt?: string;
  readonly max_turns?: number;
  readonly async?: boolean;
  readonly session_id?: string;
}

/** Time allowed for stopping a program, in addition to the task's time limit, in milliseconds. */
const endingMs = 10_000;

const readOptions = record<AgentToolOptions>(
  {
    workspace: text,
    backends: listOf(readBackend),
    maxSessions: amount,
    timeoutMs: amount,
    sessionLimits: record<Pick<Limits, 'usd' | 'tokens'>>({ usd: amount, tokens: amount }),
    permission: readPermission,
    gate: callable,
    asks: flag,
    trusted: listOf(text),
    sandbox: readProgramSandbox,
    sandboxed: flag,
    sessionsFile: when((value) => value === null || typeof value === 'string', 'a string or null'),
    pricing: callable,
    allowUnpriced: flag,
    env: mapOf(text),
    runtime: withMethods('monotonic', 'timer', 'random'),
  },
  ['workspace'],
);

/**
 * Creates the tool with which a model gives tasks to Claude Code or Codex: create, send, status, wait, list and destroy.
 * The usage of the tasks counts toward the budget of the calling run.
 * @throws AgentError `invalid` for an invalid option, a workspace that is not a directory, or permission `gate` without a gate.
 */
export function createAgentTool(options: AgentToolOptions): AgentTool {
  const given = read(options, readOptions);
  const { permission = 'read-only', timeoutMs = defaultTimeoutMs } = given;
  if (permission === 'gate' && given.gate === undefined)
    throw new AgentError({
      kind: 'invalid',
      code: 'no_gate',
      message: 'Permission "gate" requires the option `gate`, which decides on each call.',
    });
  const workspace = new Workspace(given.workspace);
  const backends = given.backends ?? defaultBackends(given, permission, timeoutMs);
  const sessions = new Sessions({
    registry: new SessionRegistry(registryPath(given, workspace.root)),
    backends,
    maxSessions: given.maxSessions ?? 8,
    limits: given.sessionLimits ?? {},
    gate: given.gate,
    trusted: given.trusted ?? [],
    pricing: given.pricing,
    allowUnpriced: given.allowUnpriced ?? false,
    env: given.env ?? process.env,
  });
  const tool = defineTool<AgentArgs>({
    name: 'agent',
    description: descriptionOf(backends, permission, timeoutMs),
    parameters: parametersOf(backends),
    effect: 'once',
    // The programs can read the web.
    untrusted: true,
    timeoutMs: timeoutMs + endingMs,
    subject: ({ action, backend, session_id, prompt }) =>
      [action, backend ?? session_id, prompt].filter((word) => word !== undefined).join(' '),
    execute: async (args, context) => {
      try {
        const { ask: _, ...unattended } = context;
        return await runAction(sessions, workspace, args, given.asks === true ? context : unattended);
      } finally {
        sessions.recordSpendings(context.budget);
      }
    },
  });
  return { ...tool, close: () => sessions.close() };
}

function defaultBackends(
  { env, runtime, sandbox, sandboxed }: AgentToolOptions,
  permission: DelegatePermission,
  timeoutMs: number,
): Backend[] {
  const common = {
    permission,
    timeoutMs,
    ...defined({ env, runtime, sandbox, sandboxed }),
  };
  return [claudeCode(common), codex(common)];
}

function registryPath(
  { sessionsFile, env = process.env }: AgentToolOptions,
  root: string,
): string | undefined {
  if (sessionsFile !== undefined) return sessionsFile ?? undefined;
  const home = cobblerHome(env);
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return home === undefined ? undefined : join(home, 'agents', `${name}.json`);
}

function runAction(
  sessions: Sessions,
  workspace: Workspace,
  args: AgentArgs,
  context: ToolContext,
): Promise<ToolOutput> | ToolOutput {
  switch (args.action) {
    case 'create':
      return create(sessions, workspace, args, context);
    case 'send':
      return work(sessions, requiredArgument(args, 'session_id'), args, context);
    case 'status':
      return answerOf(sessions, sessions.get(requiredArgument(args, 'session_id')));
    case 'wait':
      return sessions
        .ended(requiredArgument(args, 'session_id'))
        .then((session) => answerOf(sessions, session));
    case 'list':
      return answerOf(sessions, sessions.all());
    case 'destroy': {
      const session = sessions.get(requiredArgument(args, 'session_id'));
      return sessions.destroy(session.id).then((report) => answer(report, { untrusted: isMarked(session) }));
    }
  }
}

async function create(
  sessions: Sessions,
  workspace: Workspace,
  args: AgentArgs,
  context: ToolContext,
): Promise<ToolOutput> {
  requiredArgument(args, 'prompt');
  const workingDir = await workspace.directory(args.working_dir ?? '.');
  const { id } = sessions.open({
    backend: requiredArgument(args, 'backend'),
    workingDir,
    ...defined({ systemPrompt: args.system_prompt, maxTurns: args.max_turns }),
  });
  try {
    return await work(sessions, id, args, context);
  } catch (thrown) {
    // A session whose first task never started cannot be continued.
    await sessions.destroy(id);
    throw thrown;
  }
}

async function work(
  sessions: Sessions,
  id: string,
  args: AgentArgs,
  { signal, budget, user, ask, progress, step }: ToolContext,
): Promise<ToolOutput> {
  const prompt = requiredArgument(args, 'prompt');
  const inBackground = args.async === true;
  const jobContext = {
    budget,
    inBackground,
    progress: inBackground ? () => {} : progress,
    ...defined({ user }),
    ...(!inBackground && { signal, ...defined({ ask, step }) }),
  };
  const job = await sessions.begin(id, prompt, jobContext);
  if (inBackground) return answerOf(sessions, sessions.get(id));
  const result = await job.over;
  return answerOf(sessions, sessions.get(id), {
    isError: result.status !== 'completed',
    summary: summaryOf(result),
  });
}

function requiredArgument(args: AgentArgs, name: 'prompt' | 'backend' | 'session_id'): string {
  const value = args[name];
  if (value === undefined || value.trim() === '')
    throw refusal('missing_argument', `${args.action} requires ${name}.`);
  return value;
}

type OutputDetails = Pick<ToolOutput, 'isError' | 'summary' | 'untrusted'>;

function answerOf(
  sessions: Sessions,
  given: RegisteredSession | readonly RegisteredSession[],
  rest?: OutputDetails,
): ToolOutput {
  const isOne = 'id' in given;
  const report = isOne ? sessions.report(given) : given.map((session) => sessions.report(session));
  return answer(report, { untrusted: isOne ? isMarked(given) : given.some(isMarked), ...rest });
}

function answer(report: object, { untrusted, ...rest }: OutputDetails): ToolOutput {
  const content = JSON.stringify(report, undefined, 2);
  return toolOutput({ content, ...rest, ...(untrusted === true && { untrusted }) });
}

function isMarked({ untrusted }: RegisteredSession): boolean {
  return untrusted !== undefined;
}

function summaryOf({ status, toolCalls, usd = 0 }: BackendResult): string {
  const facts = [
    ...(status === 'completed' ? [] : [status]),
    `${toolCalls} call${toolCalls === 1 ? '' : 's'}`,
    ...(usd > 0 ? [`$${usd.toFixed(usd < 0.01 ? 4 : 2)}`] : []),
  ];
  return facts.join(', ');
}

function descriptionOf(
  backends: readonly Backend[],
  permission: DelegatePermission,
  timeoutMs: number,
): string {
  const names = backends.map(({ name }) => name).join(' or ');
  const may = {
    'read-only': 'The agents can read files but cannot change anything.',
    gate: 'Every call that the agents make is checked.',
    edit: 'The agents can change files.',
    bypass: "The agents have all of the user's permissions.",
  }[permission];
  return (
    `Gives a whole task to another coding agent (${names}) with its own tools, and returns the result. ${may} ` +
    '"create" starts a session with a task; "send" sends the session another message; "status" returns the status of a session; "wait" waits until its task has ended; "list" lists all sessions; ' +
    '"destroy" stops and deletes a session. With async, the call returns at once: get the result with wait or status. ' +
    `The time limit of a task is ${timeoutMs / 1000} s.`
  );
}

function parametersOf(backends: readonly Backend[]) {
  const string = (description: string) => ({ type: 'string', description });
  return {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ['create', 'send', 'status', 'wait', 'list', 'destroy'] },
      backend: {
        type: 'string',
        enum: backends.map(({ name }) => name),
        description: 'For create: the agent to use.',
      },
      prompt: string('For create and send: the task, with everything that the other agent needs to know.'),
      working_dir: string('For create: a directory in the workspace. Default: the workspace.'),
      system_prompt: string('For create: instructions for the whole session.'),
      max_turns: {
        type: 'integer',
        minimum: 1,
        description: 'For create: maximum number of model responses.',
      },
      async: { type: 'boolean', description: 'For create and send: return at once. Default false.' },
      session_id: string('For send, status, wait and destroy: the id of the session, for example as-1.'),
    },
    required: ['action'],
    additionalProperties: false,
  };
}
