import type { RunEvent } from '../events/event.ts';
import { hasSearched } from '../events/search-notes.ts';
import { Budget } from '../interfaces/budget.ts';
import { allowAll } from '../interfaces/gate.ts';
import type { Limits } from '../interfaces/limits.ts';
import { defaultLimits, noPricing } from '../interfaces/limits.ts';
import { planOutput } from '../interfaces/output.ts';
import type { Tool, ToolContext } from '../interfaces/tool.ts';
import { readTool } from '../interfaces/tool.ts';
import { toolOutput } from '../interfaces/tool-output.ts';
import { advanceOptions, executorOptions, runOptions } from '../run/option-readers.ts';
import type {
  AdvanceOptions,
  AsToolOptions,
  ExecutorOptions,
  ResumeOptions,
  RunConfig,
  RunOptions,
  SubAgentArgs,
} from '../run/options.ts';
import type { Prompt } from '../run/prompt.ts';
import type { Advance, Run } from '../run/run.ts';
import { memoryStore } from '../store/memory-store.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { read, record, text, when } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import { systemRuntime } from '../values/runtime.ts';
import { maxDeclarationBytes } from '../values/sizes.ts';
import { advanceRun, startRun } from './driver.ts';
import { openAction, openAgain, openPrompt } from './opening.ts';

/** Maximum number of sessions kept in memory, because a program can run one prompt after another for weeks. */
const maxInMemory = 1000;

/** Default number of `read` tools that run at the same time: enough to hide latency without overloading files and services. */
export const defaultToolConcurrency = 16;

const subAgentParameters: JsonObject = {
  type: 'object',
  properties: {
    prompt: { type: 'string', description: 'The complete task. The agent knows nothing else.' },
  },
  required: ['prompt'],
  additionalProperties: false,
};

/** A run performs a whole batch of calls before it decides again. */
const callsPerStep = Number.POSITIVE_INFINITY;

/** The fields that belong to one run and not to the executor. */
type RunFields =
  | 'sessionId'
  | 'runId'
  | 'budget'
  | 'output'
  | 'signal'
  | 'onEvent'
  | 'session'
  | 'callsPerStep'
  | 'waitEnded'
  | 'compact'
  | 'open';

/** The agent loop for one task: request, run tools, repeat, within limits. Between runs it keeps only options and store. */
export class Executor<Tools extends Tool = Tool> {
  readonly #options: Omit<RunConfig, RunFields>;
  /** The limits that the caller set, for the budget of each run. */
  readonly #limits: Limits;
  readonly #budget: Budget | undefined;
  readonly #now = (): number => this.#options.runtime.now();

  /**
   * @throws AgentError `invalid`, which names the option, for options without an agent, tools that no provider would
   * accept, two tools with the same name, declarations of more than 4 MiB, or any other value that an option cannot have.
   */
  constructor(options: ExecutorOptions<Tools>) {
    const { budget, ...given } = read(options, executorOptions);
    const reading = given.context?.offload?.tool;
    const tools = [...(given.tools ?? []), ...(reading === undefined ? [] : [reading])];
    checkTools(tools);
    this.#limits = given.limits ?? {};
    this.#budget = budget;
    this.#options = {
      request: Object.freeze({}),
      onLimit: 'return',
      onReached: 'end',
      toolErrors: 'continue',
      toolScheduling: 'parallel',
      toolConcurrency: defaultToolConcurrency,
      gate: allowAll,
      hooks: [],
      attended: false,
      pricing: noPricing,
      allowUnpriced: false,
      store: given.store ?? memoryStore({ keepLast: maxInMemory }),
      storeTimeoutMs: 5000,
      runtime: systemRuntime,
      ...given,
      tools: Object.freeze(tools),
      limits: { ...defaultLimits, ...this.#limits },
    };
  }

  /**
   * Starts a run and returns immediately. Pass a prompt, or a whole conversation to continue. If the session already
   * has a conversation, only the last user message of the given one is used.
   * @throws AgentError `invalid`, only for programming errors: an empty prompt, an invalid prompt (code `bad_prompt`)
   * or an output that the agent does not support.
   */
  run<Output = unknown>(prompt: Prompt, options: RunOptions<Output> = {}): Run<Output, Tools> {
    const given = read(options, runOptions);
    const session = given.sessionId === undefined ? 'new' : 'either';
    return startRun(this.#configOf({ session, open: openPrompt(prompt), callsPerStep }, given));
  }

  /**
   * Continues a session after a crash or a wait for a user's decision. If the store does not contain the session, the
   * returned run fails with kind `invalid`, code `no_session`.
   */
  resume<Output = unknown>(sessionId: string, options: ResumeOptions<Output> = {}): Run<Output, Tools> {
    const id = read(sessionId, text, 'sessionId');
    const given = read(options, runOptions);
    const { answers, compact } = given;
    const open = openAgain(id, answers, this.#now, compact !== undefined);
    return startRun(
      this.#configOf({ session: 'old', open, callsPerStep, compact }, { ...given, sessionId: id }),
    );
  }

  /**
   * Performs the next action of a run and leaves it: one model request, one tool call or one compaction. Intended for
   * workflow engines that run steps to completion in any process: each call is one step. The session's log alone
   * determines where the run is, so a repeated step continues after what was recorded. `limits.ms` applies to each
   * action separately. Aborting `signal` with an AgentError of code `cancelled` ends the run; any other reason leaves
   * it as a crash would.
   * @throws AgentError `invalid` for an empty prompt, or with code `no_session`; `agent` with code `store` if the
   * store failed, or `fenced` if another process has continued the session; the signal's reason if the run was left.
   */
  async advance<Output = unknown>(options: AdvanceOptions<Output>): Promise<Advance<Output>> {
    const given = read(options, advanceOptions);
    const open = openAction(given, this.#now);
    const { waitEnded } = given;
    return advanceRun(this.#configOf({ session: 'either', open, callsPerStep: 1, waitEnded }, given));
  }

  /**
   * Returns a tool that runs this executor as a sub-agent: its argument is the prompt, and its result is the output or
   * text of the response. Each call is a new session, with the limits of this executor within the budget of the run
   * that makes the call, and is cancelled with it. The tools that it uses are reported as progress.
   *
   * A run that does not complete is an error result. That includes one that needs a user's decision, because no user
   * can be asked within a call.
   * @throws AgentError `invalid` for a name that no provider accepts.
   */
  asTool<Name extends string>(options: AsToolOptions<Name>): Tool<Name, SubAgentArgs> {
    const { tools, limits } = this.#options;
    const { output, ...given } = read(options, toolOptions);
    const tool = {
      effect: tools.every(({ effect }) => effect === 'read') ? 'read' : 'once',
      timeoutMs: limits.ms,
      // What a sub-agent read is in its session only, so its tools decide for all of its calls.
      untrusted: tools.some(({ untrusted }) => untrusted),
      sends: tools.some(({ sends }) => sends),
      ...given,
      parameters: subAgentParameters,
      subject: (args: Record<string, unknown>) => promptOf(args),
      execute: async (args: Record<string, unknown>, context: ToolContext) => {
        const { signal, budget, user } = context;
        const start = {
          session: 'new',
          open: openPrompt(promptOf(args)),
          callsPerStep,
          attended: false,
          // The limit also refuses the next request of the run that makes the call, which then asks.
          onReached: 'end',
        } as const;
        const report = reportTo(context);
        let searched = false;
        const onEvent = (event: RunEvent) => {
          searched ||= event.type === 'assistant' && hasSearched(event.content);
          report(event);
        };
        const options = { signal, budget, onEvent, ...defined({ output, user }) };
        const answer = await responseOf(startRun(this.#configOf(start, options)));
        if (!searched) return answer;
        // Unlike its tools, the searches of its model are known only afterwards.
        const content = typeof answer === 'string' ? answer : JSON.stringify(answer);
        return toolOutput({ content, untrusted: true });
      },
    };
    return read(tool, readTool) as Tool<Name, SubAgentArgs>;
  }

  #configOf<Output>(
    start: Pick<RunConfig<Output>, 'session' | 'open' | 'callsPerStep' | 'waitEnded' | 'compact'> & {
      readonly attended?: boolean;
      readonly onReached?: 'end';
    },
    { signal, onEvent, output: option, ...ids }: RunOptions,
  ): RunConfig<Output> {
    const { agent, runtime, tools } = this.#options;
    const output = option === undefined ? undefined : planOutput<Output>(agent, option);
    const all = output?.tool === undefined ? tools : Object.freeze([...tools, output.tool]);
    if (all !== tools) checkTools(all);
    return Object.freeze({
      ...this.#options,
      ...start,
      ...defined({ signal, onEvent, output, user: ids.user ?? this.#options.user }),
      tools: all,
      runId: ids.runId ?? runtime.id(),
      sessionId: ids.sessionId ?? runtime.id(),
      budget: new Budget(this.#limits, ids.budget ?? this.#budget),
    });
  }
}

const subAgentArgs = record<SubAgentArgs>({ prompt: text }, ['prompt']);

function promptOf(args: Record<string, unknown>): string {
  return read(args, subAgentArgs, 'arguments').prompt;
}

/** Reads the options of a tool once; each field is read when the tool is. */
const toolOptions: Reader<AsToolOptions> = (value) => ({ ...anObject(value) });

const anObject: Reader<AsToolOptions> = when(isObject, 'an object');

/** Reports what a sub-agent does, one line for each call of a tool. */
function reportTo({ progress }: ToolContext): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'tool_started') progress(event.toolName);
    if (event.type === 'progress') progress(`${event.toolName}: ${event.text}`);
  };
}

/**
 * Returns the response of a sub-agent: its output, or its text.
 * @throws AgentError the reason why it did not complete, which the model sees.
 */
async function responseOf(run: Run): Promise<unknown> {
  const result = await run.result;
  if (result.status === 'waiting') {
    const names = [...new Set(result.approvals.map(({ toolName }) => toolName))].join(', ');
    const message = `The agent stopped: a user must decide on its call to ${names}, but no user can be asked during a tool call.`;
    throw new AgentError({ kind: 'tool', code: 'sub_agent_waits', message });
  }
  const { output, text } = result.unwrap();
  return output === undefined ? text : output;
}

/** The sizes of declarations. Many executors share tools, for example one for each prompt of a harness. */
const sizes = new WeakMap<Tool, number>();

/** Checks the tools of a run together. @throws AgentError `invalid`, code `duplicate_tool` or `tools_too_large`. */
function checkTools(tools: readonly Tool[]): void {
  const names = new Set<string>();
  let bytes = 0;
  for (const tool of tools) {
    const { name } = tool;
    if (names.has(name))
      throw new AgentError({
        kind: 'invalid',
        code: 'duplicate_tool',
        message: `Two tools are named ${name}. Rename one of them in options.tools.`,
      });
    names.add(name);
    bytes += declarationSize(tool);
  }
  if (bytes > maxDeclarationBytes) throw toolsTooLarge(tools, bytes);
}

function declarationSize(tool: Tool): number {
  let size = sizes.get(tool);
  if (!size) {
    size = `${tool.name}${tool.description}${JSON.stringify(tool.parameters)}`.length;
    sizes.set(tool, size);
  }
  return size;
}

function toolsTooLarge(tools: readonly Tool[], bytes: number): AgentError {
  const largest = tools.reduce((left, right) =>
    declarationSize(left) >= declarationSize(right) ? left : right,
  );
  const message = `The tool declarations total ${bytes} bytes, but the maximum is ${maxDeclarationBytes}. The largest is ${largest.name}, at ${declarationSize(largest)} bytes. Shorten its description and parameters, or remove tools from options.tools.`;
  return new AgentError({ kind: 'invalid', code: 'tools_too_large', message });
}
