import type { Agent, Limits, Price, Pricing, Tool } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Backend } from '../backend/backend.ts';
import { proxyTools } from '../backend/proxy-tools.ts';
import { BackendAgent } from './backend-agent.ts';

/** Options of a loop over a program. */
export interface DelegatedLoopOptions {
  readonly backend: Backend;
  /** Where it works. */
  readonly workingDir: string;
  /** Passed to the program if it supports them. */
  readonly limits?: Limits;
  /** Names of further tools that the program has, such as those of its MCP servers. */
  readonly tools?: readonly string[];
  /** For programs that do not say what they cost. */
  readonly pricing?: Pricing;
}

/**
 * A program as the parts of an executor, for one run after another: its agent, its tools and its prices. Calls are
 * gated by the executor's gate when the backend asks about them.
 */
export interface DelegatedLoop {
  readonly agent: Agent;
  readonly tools: readonly Tool[];
  readonly pricing: Pricing;
  /** A run is over: ends what still works for it. */
  leave(): void;
  /** The same, and resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Makes the parts of an executor of a backend. See {@link DelegatedLoop}. */
export function delegatedLoop(options: DelegatedLoopOptions): DelegatedLoop {
  const { backend, workingDir, limits, tools, pricing } = options;
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
    tools: proxyTools((given, context) => backendAgent.outcome(given, context), { workingDir, more: tools }),
    pricing: pricingOf(backendAgent, backend, pricing),
    leave: () => backendAgent.leave(),
    close: () => backendAgent.close(),
  };
}

/** The price of a request is unknown beforehand; afterwards the program's report counts, if there is one. */
function pricingOf(backendAgent: BackendAgent, backend: Backend, own: Pricing | undefined): Pricing {
  return (provider, model, inputTokens): Price | undefined =>
    (backend.tellsCost ? backendAgent.price : undefined) ?? own?.(provider, model, inputTokens);
}
