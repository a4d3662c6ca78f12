import type { Harness, HarnessOptions, Tool } from '@cobbler/agent';
import { createHarness } from '@cobbler/agent';
import type { HarnessHandler } from '@cobbler/agent/harness';
import type { FactoryConfig, FlatTool } from '@cobbler/agent/provider';
import { fromFlatTool } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { ClaudeOptions } from './create-claude.ts';
import { createClaude } from './create-claude.ts';
import { claudePricing } from './models.ts';

/** The model and limits of a conversation. */
export interface ClaudeHarnessConfig extends FactoryConfig, ClaudeOptions {
  /** Default `fast`. */
  readonly model?: string;
  /** Maximum tokens of one response. Default 4096. */
  readonly maxTokens?: number;
  /** Default: none. */
  readonly systemPrompt?: string;
  /** Maximum requests per prompt. Default 10. */
  readonly maxTurns?: number;
}

/** Other options of a conversation: store, gate, limits and all other options of a harness. */
export type ClaudeHarnessOptions = Omit<HarnessOptions, 'agent' | 'tools' | 'handler' | 'system'>;

/**
 * A conversation with Claude, with the defaults of requirement S4.1. Tools run one after another, and the first one
 * that fails stops its batch.
 * @throws AgentError `invalid` for a missing key (code `no_key`) or a configuration that cannot work.
 */
export function claudeHarness(
  config: ClaudeHarnessConfig = {},
  tools: readonly (Tool | FlatTool)[] = [],
  handler: HarnessHandler | null = null,
  options: ClaudeHarnessOptions = {},
): Harness {
  const { systemPrompt, maxTurns, ...rest } = config;
  const agent = createClaude({ ...rest, model: rest.model ?? 'fast', maxTokens: rest.maxTokens || 4096 });
  return createHarness({
    pricing: claudePricing,
    ...defined({ runtime: rest.runtime }),
    ...options,
    agent,
    tools: tools.map((tool) => ('inputSchema' in tool ? fromFlatTool(tool) : tool)),
    handler,
    limits: { ...options.limits, turns: maxTurns || options.limits?.turns || 10 },
    ...(systemPrompt !== undefined && systemPrompt !== '' && { system: systemPrompt }),
  });
}
