import type { Agent, Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { read, record } from '@cobbler/agent/input';
import type { ServiceConfig } from '@cobbler/agent/provider';
import { cleanKey, configReaders, createAgent } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { defaultModel, geminiModels, modelId, traitsOf } from './models.ts';
import { geminiWire } from './wire.ts';

/** Default base URL, unless the configuration or GOOGLE_GEMINI_BASE_URL sets another. */
const serviceURL = 'https://generativelanguage.googleapis.com';

/** Types that the documentation lists. Any text type is sent as plain text. */
const acceptedFiles: readonly string[] = [
  ...['png', 'jpeg', 'webp', 'heic', 'heif'].map((type) => `image/${type}`),
  ...['wav', 'mp3', 'mpeg', 'aiff', 'aac', 'ogg', 'flac'].map((type) => `audio/${type}`),
  'application/pdf',
  'text/*',
  'application/json',
];

/** The settings of {@link createGemini}: those of every provider. */
export type GeminiConfig = ServiceConfig;

const readConfig = record<GeminiConfig>(configReaders);

/**
 * Creates an agent for Google's Gemini API. The key comes from `apiKey`, GEMINI_API_KEY or GOOGLE_API_KEY.
 *
 * @throws AgentError `invalid`: code `no_key` without a key, `bad_key` for an invalid key, `bad_url` for an invalid
 * address, `unsupported` for a web search.
 */
export function createGemini(config: GeminiConfig = {}): Agent {
  const given = read(config, readConfig);
  const env = given.env ?? processEnvironment();
  if (given.search)
    throw invalid('unsupported', 'The Gemini provider has no web search. Remove the search option.');
  const model = modelId(given.model ?? defaultModel);
  const { thinking, ignoresSampling } = traitsOf(model);
  const contextTokens = geminiModels.find(({ id }) => id === model)?.contextTokens;
  const baseURL = addressOf(given.baseURL ?? env['GOOGLE_GEMINI_BASE_URL']);
  return createAgent(geminiWire(baseURL, keyOf(given.apiKey, env), model), {
    model,
    capabilities: {
      files: acceptedFiles,
      reasoning: thinking !== 'none',
      parallelCalls: true,
      // Earlier models reject a schema in a request with tools.
      output: thinking === 'level' ? 'native' : 'tool',
      sampling: !ignoresSampling,
      cacheUsage: true,
      ...defined({ contextTokens }),
    },
    ...defined({ maxTokens: given.maxTokens, temperature: given.temperature, effort: given.effort }),
    timeouts: { ...defined({ totalMs: given.requestTimeout }), ...given.timeouts },
    retry: { ...defined({ forMs: given.retryFor }), ...given.retry },
    ...defined({ runtime: given.runtime, transport: given.transport }),
  });
}

function keyOf(given: string | undefined, env: Environment): string {
  const key = cleanKey(given) ?? cleanKey(env['GEMINI_API_KEY']) ?? cleanKey(env['GOOGLE_API_KEY']);
  if (key === undefined)
    throw invalid('no_key', 'There is no API key for Gemini. Set GEMINI_API_KEY, or pass `apiKey`.');
  // A header cannot contain other characters, and code that rejects it later would show the key.
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw invalid(
    'bad_key',
    'The API key for Gemini contains a space, a line break or another invalid character. Copy it again.',
  );
}

function addressOf(given: string | undefined): string {
  const address = given?.trim() || serviceURL;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))
    return address.replace(/\/+$/, '');
  throw invalid('bad_url', `The base URL ${JSON.stringify(address)} is not an http or https URL.`);
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message, provider: 'gemini' });
}

/** Returns the environment, which not every runtime has. */
function processEnvironment(): Environment {
  return (globalThis as { process?: { env?: Environment } }).process?.env ?? {};
}
