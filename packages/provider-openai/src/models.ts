import type { PrefixCache } from '@cobbler/agent/provider';

/**
 * The models behind the aliases. OpenAI's deployment guide (developers.openai.com/api/docs/guides/
 * deployment-checklist) recommends these three: luna for efficient, repeatable work, sol for coding and professional
 * work, astra for the highest capability.
 */
export const modelAliases: Readonly<Record<string, string>> = Object.freeze({
  fast: 'gpt-6-luna',
  balanced: 'gpt-6.1-sol',
  best: 'gpt-6-astra',
});

/** The default model. */
export const defaultModel = 'balanced';

/** Returns the model id for an alias; any other name is returned unchanged. */
export function resolveModel(name: string): string {
  return Object.hasOwn(modelAliases, name) ? (modelAliases[name] ?? name) : name;
}

/** The name of this provider in configurations, events and metadata. */
export const providerName = 'openai';

/** Returns the context window of GPT-6 and later in tokens, from developers.openai.com; input is capped at 922,000. */
export function contextTokens(model: string): number | undefined {
  return /^gpt-6(\.[12])?-(astra|sol|terra|luna)$/.test(withoutDate(model)) ? 1_050_000 : undefined;
}

/**
 * Returns true if a model reasons: the o series, the codex models, and GPT-5 and later. Such a model rejects sampling
 * parameters ("Unsupported parameter: 'temperature' is not supported with this model.") and accepts an effort. The
 * `chat-latest` variants and models with unknown names do not reason.
 */
export function reasons(model: string): boolean {
  return /^(o\d|codex-|gpt-([5-9]|\d{2,})([.-]|$))(?!.*chat-latest)/.test(bareName(model));
}

/**
 * Returns true if Chat Completions at OpenAI lets this model call functions only with `reasoning_effort: "none"`,
 * even when no effort is sent: "Function tools with reasoning_effort are not supported for gpt-5.6-terra in
 * /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'." GPT-5.1 and
 * later support `none`.
 */
export function needsNoEffortForTools(model: string): boolean {
  return reasons(model) && versionOf(model) > 500;
}

/**
 * Returns the prompt cache of GPT-5.6 and later, where writes are charged. Entries are kept for half an hour after
 * the latest use, at positions that the service chooses, and are found only with a `prompt_cache_key`. Earlier models
 * cache automatically, free of charge. A lifetime of twelve hours, for 2.5 times the input price, is not used.
 * Sources: "Prompt caching" under developers.openai.com/api/docs/guides and the SDK's comments on
 * `prompt_cache_options`.
 */
export function promptCache(model: string): PrefixCache | undefined {
  const isBilled = versionOf(model) >= 506;
  return isBilled ? { lifetimes: [{ ms: 1_800_000, write: 1.25 }], read: 0.1 } : undefined;
}

/** Returns the version of a GPT model as a number, such as 506 for `gpt-5.6`; 0 for other models. */
function versionOf(model: string): number {
  const [, major = 0, minor = 0] = /^gpt-(\d+)(?:\.(\d+))?(?:-|$)/.exec(bareName(model)) ?? [];
  return Number(major) * 100 + Number(minor);
}

/** Removes the date of a model name: `gpt-6-sol-2026-09-22` becomes `gpt-6-sol`. */
export function withoutDate(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '');
}

/** Removes prefixes: routers add a vendor (`openai/gpt-6-sol`), fine-tuned models have `ft:` (`ft:gpt-4.1-mini:...`). */
function bareName(model: string): string {
  return model.replace(/^ft:/, '').replace(/^.*\//, '').toLowerCase();
}
