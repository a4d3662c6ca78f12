import type { Tool } from '@cobbler/agent';
import type { Harness, HarnessHandler, HarnessOptions } from '@cobbler/agent/harness';
import { createHarness } from '@cobbler/agent/harness';
import type { Reader } from '@cobbler/agent/input';
import { amount, listOf, read, record, text, when } from '@cobbler/agent/input';
import type { FactoryConfig, FlatTool } from '@cobbler/agent/provider';
import { fromFlatTool, isObject } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { ClaudeOptions } from './create-claude.ts';
import { claudeReaders, createClaude } from './create-claude.ts';
import { claudePricing } from './prices.ts';

/** The model and limits of a conversation. */
export interface ClaudeHarnessConfig extends FactoryConfig, ClaudeOptions {
  /** Alias or id of the model. Default `fast`. */
  readonly model?: string;
  /** Maximum number of tokens of one response. Default 4096. */
  readonly maxTokens?: number;
  /** System prompt. Default: none. */
  readonly systemPrompt?: string;
  /** Maximum number of requests per prompt. Default 10. */
  readonly maxTurns?: number;
}

/** Other options of a conversation: the store, the gate, limits and all remaining options of a harness. */
export type ClaudeHarnessOptions = Omit<HarnessOptions, 'agent' | 'tools' | 'handler' | 'system'>;

const harnessConfig = record<ClaudeHarnessConfig>({
  ...claudeReaders,
  systemPrompt: text,
  maxTurns: amount,
});

/** The harness reads the fields. */
const harnessOptions: Reader<ClaudeHarnessOptions> = (value) => ({ ...object(value) });

const object = when<ClaudeHarnessOptions>(isObject, 'an object');

const eitherTool: Reader<Tool> = (value) =>
  isObject(value) && 'inputSchema' in value ? fromFlatTool(value as unknown as FlatTool) : (value as Tool);

/**
 * Creates a conversation with Claude, with the defaults of requirement S4.1. Tools run one after another, and the
 * first failure stops the batch.
 * @throws AgentError `invalid` for a missing key (code `no_key`) or an invalid configuration.
 */
export function claudeHarness(
  config: ClaudeHarnessConfig = {},
  tools: readonly (Tool | FlatTool)[] = [],
  handler: HarnessHandler | null = null,
  options: ClaudeHarnessOptions = {},
): Harness {
  const { systemPrompt, maxTurns, ...rest } = read(config, harnessConfig, 'config');
  const given = read(options, harnessOptions);
  const agent = createClaude({ ...rest, model: rest.model ?? 'fast', maxTokens: rest.maxTokens || 4096 });
  return createHarness({
    pricing: claudePricing,
    ...defined({ runtime: rest.runtime }),
    ...given,
    agent,
    tools: read(tools, listOf(eitherTool), 'tools'),
    handler,
    limits: { ...given.limits, turns: maxTurns || given.limits?.turns || 10 },
    ...(systemPrompt !== undefined && systemPrompt !== '' && { system: systemPrompt }),
  });
}
