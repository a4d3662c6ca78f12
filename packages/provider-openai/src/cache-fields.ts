import type { Wire, WireRequest } from '@cobbler/agent/provider';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { OpenAIAddress, OpenAIApi } from './endpoint.ts';
import { promptCache } from './models.ts';

/** Fields that help OpenAI find a cached prompt, for both APIs. */
export type CacheFields = Pick<ResponseCreateParamsStreaming, 'prompt_cache_key' | 'prompt_cache_options'>;

/**
 * Returns true if the service at this address documents `prompt_cache_key` for this API. Others may reject an unknown
 * field, as models of other vendors do at Azure. Sources: learn.microsoft.com/azure/foundry/openai/how-to/prompt-caching;
 * ChatRequest and ResponsesRequest in the API reference under openrouter.ai/docs; docs.mistral.ai/studio-api/
 * conversations/advanced/prompt-caching; docs.x.ai/developers/advanced-api-usage/prompt-caching.
 */
export function takesCacheKey({ official, baseURL }: OpenAIAddress, api: OpenAIApi, model: string): boolean {
  const host = URL.parse(baseURL)?.hostname ?? '';
  return (
    official ||
    host === 'openrouter.ai' ||
    host === (api === 'chat' ? 'api.mistral.ai' : 'api.x.ai') ||
    (host.endsWith('.openai.azure.com') && /^(gpt-\d|o\d|codex-)/.test(model))
  );
}

/**
 * Returns the cache fields of a request. The key is the same for all requests of a conversation, in every process and
 * on every day, because it identifies the start of the prompt: the model, the tools and the first system text. Later
 * system texts can change within a conversation. GPT-5.6 and later find a cached prompt only with a key. If no further
 * request is expected in time, caching is disabled, because writing costs more than plain input: explicit mode without
 * a breakpoint.
 */
export function cacheFields(request: WireRequest): CacheFields {
  const { model, system, tools, keepMs } = request;
  return {
    prompt_cache_key: `cobbler-${checksum(JSON.stringify([model, system[0], tools]))}`,
    ...(keepMs === 0 && { prompt_cache_options: { mode: 'explicit' } }),
  };
}

/** Returns the cache behavior of the service at this address if it affects the cost; unknown for other servers. */
export function cacheOf({ official }: OpenAIAddress, model: string): Pick<Wire, 'cache'> {
  const cache = official ? promptCache(model) : undefined;
  return cache === undefined ? {} : { cache };
}

/** Returns two FNV-1a hashes of the UTF-16 code units, one in reverse order: enough to compare texts, but not secure. */
function checksum(text: string): string {
  let forwards = 0x811c9dc5;
  let backwards = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    forwards = Math.imul(forwards ^ text.charCodeAt(at), 0x01000193);
    backwards = Math.imul(backwards ^ text.charCodeAt(text.length - 1 - at), 0x01000193);
  }
  return [forwards, backwards].map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join('');
}
