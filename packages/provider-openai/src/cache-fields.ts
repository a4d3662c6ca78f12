import type { Wire, WireRequest } from '@cobbler/agent/provider';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { OpenAIAddress } from './endpoint.ts';
import { promptCache } from './models.ts';

/** Fields that help OpenAI find a cached prompt. The same on both APIs. */
export type CacheFields = Pick<ResponseCreateParamsStreaming, 'prompt_cache_key' | 'prompt_cache_options'>;

/**
 * The key says which requests begin alike: those with the same tools and instructions. From GPT-5.6 on nothing
 * is found without one. Where no other request will follow in time nothing is to be kept at all, since writing
 * costs more than plain input: the explicit mode without a breakpoint.
 */
export function cacheFields(request: WireRequest): CacheFields {
  const { model, system, tools, keepMs } = request;
  return {
    prompt_cache_key: `cobbler-${checksum(JSON.stringify([model, system, tools]))}`,
    ...(keepMs === 0 && { prompt_cache_options: { mode: 'explicit' } }),
  };
}

/** Cache behavior of the service at this address, where it affects the cost. Unknown for other servers. */
export function cacheOf({ official }: OpenAIAddress, model: string): Pick<Wire, 'cache'> {
  const cache = official ? promptCache(model) : undefined;
  return cache === undefined ? {} : { cache };
}

/** Two FNV-1a hashes over UTF-16 code units, one of them backwards: enough to compare texts, not for security. */
function checksum(text: string): string {
  let forwards = 0x811c9dc5;
  let backwards = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    forwards = Math.imul(forwards ^ text.charCodeAt(at), 0x01000193);
    backwards = Math.imul(backwards ^ text.charCodeAt(text.length - 1 - at), 0x01000193);
  }
  return [forwards, backwards].map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join('');
}
