/** Facts about a model. An absent field is unknown, never zero. */
export interface ClaudeModel {
  readonly id: string;
  /** The alias of this model, if any. */
  readonly alias?: 'fast' | 'balanced' | 'best';
  /** Size of the context window in tokens. */
  readonly contextTokens?: number;
  /** Maximum number of tokens of one response. */
  readonly maxOutputTokens?: number;
}

/** The default model. */
export const defaultModel = 'balanced';

/**
 * Models of the Messages API in SDK 1.11.0. Sizes are from the model pages under platform.claude.com/docs/en/models and,
 * for Fable 5.2, from the platform's release notes of 2026-11-09.
 */
export const claudeModels: readonly ClaudeModel[] = [
  { id: 'claude-haiku-5-5', alias: 'fast', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-sonnet-5-5', alias: 'balanced', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-opus-5-5', alias: 'best', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-fable-5-2', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-fable-5-1', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-opus-5', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-sonnet-5', contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  { id: 'claude-haiku-4-5', contextTokens: 200_000, maxOutputTokens: 64_000 },
];

/** Returns the id for an alias; any other name is already an id. */
export function modelId(name: string): string {
  return claudeModels.find((model) => model.alias === name)?.id ?? name;
}

/** Returns the facts about a model, by id. */
export function claudeModel(id: string): ClaudeModel | undefined {
  return claudeModels.find((model) => model.id === id);
}

/** The thinking mode of a model, derived from its name. */
export interface ThinkingTraits {
  /** Accepts `thinking.type: adaptive` and `output_config.effort`: version 4.6 and later. */
  readonly adaptive: boolean;
  /** Ties each thinking block to all content before it: version 5.1 and later. */
  readonly binding: boolean;
}

/**
 * Derives the thinking traits from the version in the name, so that a later model is treated like the latest known
 * one. Sources: "Troubleshooting thinking" (adaptive) and "Prefix checks on thinking blocks" (binding) under
 * platform.claude.com/docs/en/build-with-claude.
 */
export function thinkingTraits(id: string): ThinkingTraits {
  const match = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?$/.exec(id);
  if (match === null) return { adaptive: false, binding: false };
  const version = Number(match[1]) * 100 + Number(match[2] ?? 0);
  return { adaptive: version >= 406, binding: version >= 501 };
}
