import { prefixTokens, roughTextTokens } from '../../context/tokens.ts';
import type { Agent, ModelRequest, ModelResponse, RequestContext } from '../../interfaces/agent.ts';
import { readAgent } from '../../interfaces/agent.ts';
import { AgentError, argumentError, summarize } from '../../values/errors.ts';
import type { Reader } from '../../values/input.ts';
import { amount, callable, invalid, mapOf, oneOf, read, record } from '../../values/input.ts';
import { failedFor, servedFor, triedBy } from './attribution.ts';
import { declarationOf } from './declaration.ts';

/** A request, as the function that chooses its agent sees it. */
export interface RoutedRequest extends ModelRequest {
  /** Estimated number of input tokens. */
  readonly inputTokens: number;
  /** Number of the response in the conversation, starting at 1. It is smaller after the conversation was compacted. */
  readonly turn: number;
}

/** Options of {@link route}. */
export interface RouteOptions {
  /**
   * The context window that the agent declares, in tokens; conversations are compacted before they exceed it. Default:
   * the smallest window. Set a larger one if long requests go to agents with a larger window.
   */
  readonly contextTokens?: number;
}

const readAgents: Reader<Readonly<Record<string, Agent>>> = (value) => {
  const agents = mapOf(readAgent, 'an object with agents')(value);
  if (Object.keys(agents).length === 0) throw invalid(value, 'Use at least one agent');
  return agents;
};

const routeOptions = record<RouteOptions>({ contextTokens: amount });

/**
 * Returns an agent that sends each request to one of these agents. `choose` returns its name; it depends only on the
 * request, so that a repeated request goes to the same agent. The returned agent has the name of the first agent, and
 * declares only what all agents support.
 *
 * @throws AgentError `invalid` for invalid agents or options. A request fails the same way if `choose` throws or returns
 * an unknown name.
 */
export function route<Name extends string>(
  agents: Readonly<Record<Name, Agent>>,
  choose: (request: RoutedRequest) => NoInfer<Name>,
  options: RouteOptions = {},
): Agent {
  const known = read(agents, readAgents, 'agents');
  const chooseName = read<(request: RoutedRequest) => unknown>(choose, callable, 'choose');
  const { contextTokens } = read(options, routeOptions);
  const names = Object.keys(known);
  const all = Object.values(known);
  const common = declarationOf(all, all[0] as Agent);
  const capabilities = contextTokens
    ? Object.freeze({ ...common.capabilities, contextTokens })
    : common.capabilities;
  const readName = oneOf(...names);

  async function run(request: ModelRequest, context?: RequestContext): Promise<ModelResponse> {
    try {
      return await ask(known[read(chosen(request), readName, 'choose()')] as Agent, request, context);
    } catch (error) {
      throw argumentError('run', error);
    }
  }

  function chosen(request: ModelRequest): unknown {
    const seen = routed(request);
    try {
      return chooseName(seen);
    } catch (thrown) {
      const cause = summarize(thrown);
      const message = `The function that chooses the agent failed: ${cause.message}`;
      throw new AgentError({ kind: 'invalid', code: 'bad_option', message, cause });
    }
  }

  async function ask(agent: Agent, request: ModelRequest, context?: RequestContext): Promise<ModelResponse> {
    try {
      return servedFor(common, agent, await agent.run(request, context));
    } catch (thrown) {
      const error = AgentError.from(thrown, 'agent', 'bad_answer');
      throw failedFor(common, error, triedBy(agent, error));
    }
  }
  return Object.freeze({ ...common, capabilities, run });
}

/** The counts are computed when they are read, because an estimate reads the whole conversation. */
function routed(request: ModelRequest): RoutedRequest {
  const { messages, system, tools } = request;
  return Object.freeze({
    ...request,
    get inputTokens() {
      return messages.reduce((sum, message) => sum + roughTextTokens(message), prefixTokens(system, tools));
    },
    get turn() {
      return messages.filter(({ role }) => role === 'assistant').length + 1;
    },
  });
}
