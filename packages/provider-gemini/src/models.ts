/** Facts about a model. */
export interface GeminiModel {
  readonly id: string;
  /** The alias of this model, if any. */
  readonly alias?: 'fast' | 'balanced' | 'best';
  /** Size of the context window in tokens. Gemini 4 shares it between input and output. */
  readonly contextTokens: number;
}

/** The default model. */
export const defaultModel = 'balanced';

const window = { contextTokens: 1_048_576 };

/**
 * Models of `@google/genai` 3.3.0 and `@ai-sdk/google` 4.0.121. Google describes Carbon as its strongest reasoning model and
 * Hydrogen as the Gemini 4 model with the lowest price, which is the default because Carbon and Neon need a paid account.
 */
export const geminiModels: readonly GeminiModel[] = [
  { id: 'gemini-3.5-flash-lite', alias: 'fast', ...window },
  { id: 'gemini-4-hydrogen', alias: 'balanced', ...window },
  { id: 'gemini-4-carbon', alias: 'best', ...window },
  { id: 'gemini-4-neon', ...window },
  { id: 'gemini-4-argon', ...window },
  { id: 'gemini-3.8-flash', ...window },
];

/** Returns the id for an alias; any other name is already an id. */
export function modelId(name: string): string {
  return geminiModels.find(({ alias }) => alias === name)?.id ?? name;
}

/** The features of a model, derived from its name. */
export interface ModelTraits {
  /** How it is told how much to think: by a level (Gemini 3), by a number of tokens (Gemini 2.5), or not at all. */
  readonly thinking: 'level' | 'budget' | 'none';
  /** Ignores a temperature: Gemini 4. Source: "What's new in Gemini 4 Argon" and the migration notes of Neon. */
  readonly ignoresSampling: boolean;
  /** Has the level `xhigh`. */
  readonly hasXhigh: boolean;
}

/** Derives the traits from the version in the name. A name without one, such as `gemini-flash-latest`, is that of a new model. */
export function traitsOf(id: string): ModelTraits {
  const found = /^gem(?:ini|ma)-(\d+(?:\.\d+)?)/.exec(id);
  const version = id.startsWith('gemma') ? 1 : Number(found?.[1] ?? 3);
  return {
    thinking: version >= 3 ? 'level' : version >= 2.5 ? 'budget' : 'none',
    ignoresSampling: version >= 4,
    hasXhigh: /^gemini-4-(hydrogen|neon)/.test(id),
  };
}
