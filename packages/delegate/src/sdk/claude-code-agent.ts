import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type {
  HookCallback,
  Options,
  PermissionMode,
  PermissionResult,
  Query,
  SDKUserMessage,
  SpawnedProcess,
  SpawnOptions,
} from '@anthropic-ai/claude-agent-sdk';
import type { Runtime, Usage } from '@cobbler/agent';
import { AgentError, addUsage, noUsage, systemRuntime } from '@cobbler/agent';
import { amount, callable, listOf, mapOf, read, record, text, withMethods } from '@cobbler/agent/input';
import type { SupervisedProcess } from '@cobbler/agent/node';
import { superviseProcess } from '@cobbler/agent/node';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import { decisionSeconds } from '../backend/call-decision.ts';
import { CallJudge } from '../backend/call-judge.ts';
import type { ClaudeSettings } from '../claude/claude-adapter.ts';
import { claudeReaders } from '../claude/claude-adapter.ts';
import { claudeEnvironment } from '../claude/claude-environment.ts';
import { openRelay, programEnvironment } from '../cli/environment.ts';
import { realFolder } from '../cli/program.ts';
import type { ProgramOptions } from '../cli/program-options.ts';
import { ProgramSandboxes, pathInSandbox, readProgramSandbox } from '../cli/program-sandbox.ts';
import { earlierOf, usdSince } from '../events/backend-event.ts';
import type {
  AgentResponse,
  AgentSession,
  ExecuteCallbacks,
  SessionAgent,
} from '../session-agent/session-agent.ts';
import {
  agentResponse,
  busyText,
  cancelledText,
  readCallbacks,
  readSession,
} from '../session-agent/session-agent.ts';
import { Gatekeeper } from './gatekeeper.ts';
import type { ClaudeSdk } from './load-sdk.ts';
import { loadSdk, sdkFile } from './load-sdk.ts';
import { planInstruction } from './plan-mode.ts';
import { RecentConversations } from './recent-conversations.ts';
import type { TurnResult } from './turn.ts';
import { friendlyText, isStale, isTransient, readTurn } from './turn.ts';

/** Settings of Claude Code in an agent's sessions. */
export interface ClaudeCodeAgentConfig
  extends ClaudeSettings,
    Pick<ProgramOptions, 'env' | 'extraEnv' | 'retryMs' | 'graceMs' | 'sandbox' | 'runtime'> {
  readonly maxTurns?: number;
  readonly systemPrompt?: string;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** Names of tools, such as `WebSearch`, that can send data, and whose output is trusted. Default: none. */
  readonly trusted?: readonly string[];
  /** Path of the program. Default: the one included in the SDK. */
  readonly path?: string;
  /** The SDK. Default: `@anthropic-ai/claude-agent-sdk`, loaded with the first prompt. */
  readonly sdk?: ClaudeSdk;
}

const readConfig = record<ClaudeCodeAgentConfig>({
  ...claudeReaders,
  maxTurns: amount,
  systemPrompt: text,
  allowedTools: listOf(text),
  disallowedTools: listOf(text),
  trusted: listOf(text),
  env: mapOf(text),
  extraEnv: mapOf(text),
  path: text,
  retryMs: amount,
  graceMs: amount,
  sandbox: readProgramSandbox,
  runtime: withMethods('monotonic', 'timer'),
  sdk: record<ClaudeSdk>({ query: callable }, ['query']),
});

/** An active prompt. */
interface ActivePrompt {
  isCancelled: boolean;
  query?: Query;
  process?: SupervisedProcess;
  endPause: () => void;
  readonly over: Promise<unknown>;
  /** Number of responses in failed attempts. */
  answers: number;
  /** Cost and usage of all attempts that have ended. */
  usd: number;
  usage: Usage | undefined;
}

/**
 * A session agent for Claude Code that uses the Claude Agent SDK. Every call is passed to `canUseTool`, including
 * reads. In `plan` mode, nothing is written. A lost conversation is restarted once, and a transient failure of the
 * service is retried once.
 */
export class ClaudeCodeAgent implements SessionAgent {
  readonly #config: ClaudeCodeAgentConfig;
  readonly #runtime: Runtime;
  readonly #sandboxes: ProgramSandboxes;
  readonly #turns: Map<string, ActivePrompt> = new Map();
  /**
   * The cost of each conversation after its last attempts, because the SDK counts from the start of a conversation.
   */
  readonly #costs: RecentConversations<readonly number[]> = new RecentConversations();
  /** The marks of sessions, for callers that create the object of a session again. */
  readonly #untrusted: RecentConversations<string> = new RecentConversations();
  #isShut = false;

  /** @throws AgentError `invalid` for an invalid option. */
  constructor(config: ClaudeCodeAgentConfig = {}) {
    this.#config = read(config, readConfig, 'config');
    const { env = process.env, extraEnv, sandbox, runtime = systemRuntime } = this.#config;
    this.#runtime = runtime;
    this.#sandboxes = new ProgramSandboxes({ ...claudeEnvironment, permission: 'gate' }, sandbox, {
      ...env,
      ...extraEnv,
    });
  }

  /**
   * Executes a prompt. Failures of the service are in the response.
   * @throws AgentError `invalid` for a session with an active prompt, an agent that was shut down, or an SDK that is
   * not installed.
   */
  async execute(
    prompt: string,
    session: AgentSession,
    callbacks: ExecuteCallbacks = {},
  ): Promise<AgentResponse> {
    read(prompt, text, 'prompt');
    const own = { ...read(session, readSession, 'session') };
    own.untrusted ??= this.#untrusted.get(own.sessionId) ?? null;
    const given = read(callbacks, readCallbacks, 'callbacks');
    if (this.#isShut) throw invalid('closed', 'The agent has been shut down.');
    if (this.#turns.has(own.sessionId)) throw invalid('busy', busyText);
    const over = Promise.withResolvers<void>();
    const turn: ActivePrompt = {
      isCancelled: false,
      endPause: () => {},
      over: over.promise,
      answers: 0,
      usd: 0,
      usage: undefined,
    };
    this.#turns.set(own.sessionId, turn);
    const began = this.#runtime.monotonic();
    try {
      const result = await this.#tries(prompt, own, given, turn);
      this.#count(result, own, turn);
      return this.#response(result, own, turn, this.#runtime.monotonic() - began);
    } finally {
      // The object may be frozen.
      if (own.claudeSessionId !== undefined) Reflect.set(session, 'claudeSessionId', own.claudeSessionId);
      if (own.untrusted !== null) Reflect.set(session, 'untrusted', own.untrusted);
      this.#turns.delete(own.sessionId);
      over.resolve();
    }
  }

  async cancel(sessionId: string): Promise<void> {
    const turn = this.#turns.get(sessionId);
    if (turn === undefined) return;
    turn.isCancelled = true;
    turn.endPause();
    // The query is interrupted first, so that the conversation can continue, and then ended in any case.
    const interrupted = turn.query?.interrupt().then(
      () => {},
      () => {},
    );
    const timeout = new Promise<void>((resolve) => void this.#runtime.timer(interruptMs, resolve));
    await Promise.race([interrupted, turn.over, timeout]);
    turn.query?.close();
    turn.process?.stop();
    await turn.over;
  }

  async shutdown(): Promise<void> {
    this.#isShut = true;
    await Promise.all([...this.#turns.keys()].map((sessionId) => this.cancel(sessionId)));
  }

  /** Makes at most three attempts: the first, one without a lost conversation, and one after a transient failure. */
  async #tries(
    prompt: string,
    session: AgentSession,
    callbacks: ExecuteCallbacks,
    turn: ActivePrompt,
  ): Promise<TurnResult> {
    let result = await this.#ask(prompt, session, callbacks, turn);
    const wasResumed = session.claudeSessionId !== undefined && session.claudeSessionId !== null;
    if (wasResumed && !turn.isCancelled && isStale(result)) {
      this.#count(result, session, turn);
      session.claudeSessionId = null;
      result = await this.#ask(prompt, session, callbacks, turn);
    }
    if (turn.isCancelled || !isTransient(result.end) || result.toolsUsed.length > 0) return result;
    // An attempt without a call has at most one response.
    const answers = result.text === '' ? 0 : 1;
    if (answers >= (this.#config.maxTurns ?? Number.POSITIVE_INFINITY)) return result;
    await this.#pause(turn);
    if (turn.isCancelled) return result;
    this.#count(result, session, turn);
    turn.answers = answers;
    return this.#ask(prompt, session, callbacks, turn);
  }

  async #ask(
    prompt: string,
    session: AgentSession,
    callbacks: ExecuteCallbacks,
    turn: ActivePrompt,
  ): Promise<TurnResult> {
    const { query } = this.#config.sdk ?? (await loadSdk());
    const { env = process.env, trusted = [] } = this.#config;
    const judge = new CallJudge({
      workingDir: session.workingDirectory,
      env,
      trusted,
      untrusted: () => session.untrusted ?? undefined,
      mark: (toolName) => this.#mark(session, toolName),
    });
    const isCancelled = () => turn.isCancelled;
    const gatekeeper = new Gatekeeper(session.mode === 'plan', callbacks.canUseTool, isCancelled, judge);
    const promptRead = Promise.withResolvers<void>();
    const { path = sdkFile() } = this.#config;
    const sandbox = this.#sandboxes.in(realFolder(session.workingDirectory), path);
    const { extraEnv = {} } = this.#config;
    const own = programEnvironment(claudeEnvironment, env, extraEnv);
    const relay = sandbox && (await openRelay(claudeEnvironment, own));
    const start = {
      env: relay?.env ?? own,
      spawn: (wanted: SpawnOptions) => this.#spawn(wanted, turn, sandbox),
    };
    const options = this.#options(session, gatekeeper, turn, start);
    let running: Query | undefined;
    try {
      running = query({ prompt: oneMessage(prompt, promptRead.promise), options });
      turn.query = running;
      if (turn.isCancelled) running.close();
      return await readTurn(running, callbacks, () => promptRead.resolve());
    } finally {
      promptRead.resolve();
      running?.close();
      await turn.process?.ended;
      relay?.close();
      delete turn.query;
      delete turn.process;
    }
  }

  #options(
    session: AgentSession,
    gatekeeper: Gatekeeper,
    turn: ActivePrompt,
    start: { readonly env: Record<string, string>; spawn(wanted: SpawnOptions): SpawnedProcess },
  ): Options {
    const {
      maxTurns,
      systemPrompt,
      allowedTools,
      disallowedTools,
      model,
      settingSources = [],
      path,
    } = this.#config;
    const plans = session.mode === 'plan';
    const instructions = [systemPrompt, ...(plans ? [planInstruction] : [])].filter(
      (text) => text !== undefined,
    );
    const permissionMode: PermissionMode = plans ? 'plan' : 'default';
    const hook: HookCallback = (input, callId, { signal }) => gatekeeper.hook(input, callId, signal);
    return {
      cwd: realFolder(session.workingDirectory),
      ...(maxTurns !== undefined && { maxTurns: maxTurns - turn.answers }),
      ...(instructions.length > 0 && { systemPrompt: instructions.join('\n\n') }),
      // Claude Code's own list of allowed tools would bypass the gate.
      ...(allowedTools !== undefined && !gatekeeper.asks && { allowedTools: [...allowedTools] }),
      ...defined({ disallowedTools: disallowedTools?.slice() }),
      ...(typeof session.claudeSessionId === 'string' && { resume: session.claudeSessionId }),
      ...defined({ model, pathToClaudeCodeExecutable: path }),
      permissionMode,
      settingSources: [...settingSources],
      strictMcpConfig: true,
      env: start.env,
      hooks: { PreToolUse: [{ hooks: [hook], timeout: decisionSeconds }] },
      canUseTool: (toolName, input, context): Promise<PermissionResult> =>
        gatekeeper.prompt(toolName, input, { signal: context.signal, callId: context.toolUseID }),
      spawnClaudeCodeProcess: start.spawn,
    };
  }

  /** Starts the program for the SDK as a supervised child process. */
  #spawn(
    { command, args, cwd, env }: SpawnOptions,
    turn: ActivePrompt,
    sandbox: Sandbox | undefined,
  ): SpawnedProcess {
    let child: ChildProcess | undefined;
    const { graceMs, runtime } = this.#config;
    turn.process = superviseProcess({
      argv: [sandbox === undefined ? command : pathInSandbox(command, definedOnly(env)), ...args],
      cwd: cwd ?? process.cwd(),
      env: definedOnly(env),
      keepInputOpen: true,
      maxOutputBytes: 65_536,
      ...defined({ graceMs, runtime, sandbox }),
      spawn: (program, given, how) => {
        child = spawn(program, given, how);
        return child;
      },
    });
    if (child?.stdin && child.stdout) return child as SpawnedProcess;
    throw new AgentError({ kind: 'tool', code: 'unstartable', message: 'Claude Code could not be started.' });
  }

  async #pause(turn: ActivePrompt): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#runtime.timer(this.#config.retryMs ?? 2000, resolve);
      turn.endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  #response(
    result: TurnResult,
    session: AgentSession,
    turn: ActivePrompt,
    durationMs: number,
  ): AgentResponse {
    const { end, toolsUsed, text, plan } = result;
    const sessionId = result.sessionId ?? session.claudeSessionId ?? null;
    session.claudeSessionId = sessionId;
    const facts = {
      sessionId,
      cost: turn.usd,
      durationMs,
      numTurns: turn.answers + (end.turns ?? 0),
      toolsUsed,
      ...defined({ usage: turn.usage }),
    };
    if (turn.isCancelled) return agentResponse({ ...facts, content: cancelledText, isError: true });
    if (isTransient(end)) return agentResponse({ ...facts, content: friendlyText, isError: true });
    const candidates = [end.text ?? (end.ok ? text : end.error?.message), plan, text];
    const content = candidates.find((words) => words !== undefined && words.trim() !== '') ?? '';
    return agentResponse({ ...facts, content, isError: !end.ok });
  }

  #mark(session: AgentSession, toolName: string): void {
    session.untrusted = toolName;
    this.#untrusted.set(session.sessionId, toolName);
  }

  /** Adds the cost of an attempt that has ended to the earlier ones. */
  #count({ end, sessionId }: TurnResult, session: AgentSession, turn: ActivePrompt): void {
    const id = sessionId ?? session.claudeSessionId ?? undefined;
    const earlier = (id === undefined ? undefined : this.#costs.get(id)) ?? [];
    const before = earlierOf(
      earlier.map((usd) => ({ usd })),
      { ...defined({ totalUsd: end.totalUsd }) },
    );
    if (id !== undefined && end.totalUsd !== undefined)
      this.#costs.set(id, [...earlier.slice(-2), end.totalUsd]);
    const since = before === undefined ? undefined : usdSince(end.totalUsd, before, true);
    turn.usd += since ?? end.usd ?? end.totalUsd ?? 0;
    if (end.usage !== undefined) turn.usage = addUsage(turn.usage ?? noUsage, end.usage);
  }
}

/** Time limit for an interrupt to take effect, in milliseconds. */
const interruptMs = 500;

/**
 * Yields one message and keeps the input open until the response is complete, so that the SDK can send control
 * messages.
 */
async function* oneMessage(prompt: string, answered: Promise<void>): AsyncGenerator<SDKUserMessage> {
  yield {
    type: 'user',
    session_id: '',
    parent_tool_use_id: null,
    message: { role: 'user', content: [{ type: 'text', text: prompt }] },
  };
  await answered;
}

function definedOnly(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(defined);
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message });
}
