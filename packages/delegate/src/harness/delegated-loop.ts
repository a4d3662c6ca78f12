import type { Agent, Limits, Price, Pricing, Tool } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { amount, callable, listOf, read, record, text } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { Backend } from '../backend/backend.ts';
import { readBackend } from '../backend/backend.ts';
import { proxyTools } from '../backend/proxy-tools.ts';
import { BackendAgent } from './backend-agent.ts';

/** Options of {@link delegatedLoop}. */
export interface DelegatedLoopOptions {
  readonly backend: Backend;
  /** The working directory of the program. */
  readonly workingDir: string;
  /** Limits, passed to the program if it supports them. */
  readonly limits?: Limits;
  /** Names of additional tools of the program, such as those of its MCP servers. */
  readonly tools?: readonly string[];
  /** Names of tools, such as `WebSearch`, that can send data, and whose output is trusted. Default: none. */
  readonly trusted?: readonly string[];
  /** Prices for programs that do not report their cost. */
  readonly pricing?: Pricing;
}

/**
 * A program as the parts of an executor, for one run after another: its agent, its tools and its prices. The
 * executor's gate decides on calls if the backend asks about them.
 */
export interface DelegatedLoop {
  readonly agent: Agent;
  readonly tools: readonly Tool[];
  readonly pricing: Pricing;
  /** Stops tasks that are still running after the end of a run. */
  leave(): void;
  /** Stops all tasks. Resolves when none is left. */
  close(): Promise<void>;
}

/** The readers of {@link DelegatedLoopOptions}. */
export const loopReaders: Readers<DelegatedLoopOptions> = {
  backend: readBackend,
  workingDir: text,
  limits: record<Limits>({
    turns: amount,
    toolCalls: amount,
    tokens: amount,
    usd: amount,
    repeats: amount,
    ms: amount,
  }),
  tools: listOf(text),
  trusted: listOf(text),
  pricing: callable,
};

const readOptions = record<DelegatedLoopOptions>(loopReaders, ['backend', 'workingDir']);

/**
 * Creates the parts of an executor from a backend. See {@link DelegatedLoop}.
 * @throws AgentError `invalid` for an invalid option.
 */
export function delegatedLoop(options: DelegatedLoopOptions): DelegatedLoop {
  const { backend, workingDir, limits, tools, trusted, pricing } = read(options, readOptions);
  const backendAgent = new BackendAgent({
    backend,
    tools,
    job: {
      workingDir,
      maxTurns: limits?.turns ?? 10,
      ...defined({ maxUsd: limits?.usd, maxTokens: limits?.tokens }),
    },
  });
  return {
    agent: backendAgent,
    tools: proxyTools((given, context) => backendAgent.outcome(given, context), {
      workingDir,
      more: tools,
      trusted,
    }),
    // The cost of a request is unknown in advance. Afterward, the cost that the program reports is used, if any.
    pricing: (provider, model, inputTokens): Price | undefined =>
      (backend.tellsCost ? backendAgent.price : undefined) ?? pricing?.(provider, model, inputTokens),
    leave: () => backendAgent.leave(),
    close: () => backendAgent.close(),
  };
}
