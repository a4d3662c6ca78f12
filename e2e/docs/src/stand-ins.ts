// Mock services for the commands of the documents: models, and Telegram.
import type { MockReply, ProviderTesting, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { fakeTelegram } from '@cobbler/assistant/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { geminiTesting } from '@cobbler/provider-gemini/testing';
import { chatTesting, responsesTesting } from '@cobbler/provider-openai/testing';

/** Services on local ports. */
export interface StandIns {
  readonly modelUrl: string;
  readonly telegramUrl: string;
  close(): Promise<void>;
}

/** A made-up token in the required format. */
export const standInKeys = {
  anthropic: 'sk-ant-docs-0123456789abcdefghijklmnop',
  openai: 'sk-docs-0123456789abcdefghijklmnop',
  gemini: 'AIza-docs-0123456789abcdefghijklmnop',
  telegram: '12345678:AAEdocs0123456789abcdefghijklmnopqr',
} as const;

/** Number of dimensions of the mock embedding model. */
const embeddingSize = 8;

/** Starts all services. They reject requests that the real services would reject. */
export async function openStandIns(): Promise<StandIns> {
  // The assistant asks through the AI SDK, with other headers.
  const claude = modelOf({ ...claudeTesting, request: { path: '/v1/messages' } });
  const responses = modelOf(responsesTesting);
  const chat = modelOf(chatTesting);
  const gemini = modelOf(geminiTesting);
  const model = await serveLoopback(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith('/messages')) return claude(request);
    if (pathname.endsWith('/responses')) return responses(request);
    if (pathname.endsWith('/chat/completions')) return chat(request);
    if (pathname.endsWith(':streamGenerateContent')) return gemini(request);
    if (pathname.endsWith('/embeddings')) return embeddings(request);
    return Response.json({ error: { message: `There is no ${pathname}.` } }, { status: 404 });
  });
  const bot = fakeTelegram({ token: standInKeys.telegram, plainHttp: true });
  const telegram = await serveLoopback((request) => bot.handler(request));
  return {
    modelUrl: model.url,
    telegramUrl: telegram.url,
    close: async () => {
      await Promise.all([model.close(), telegram.close()]);
    },
  };
}

function modelOf(testing: ProviderTesting) {
  return wireServer(testing, answerTo).handler;
}

let calls = 0;

/** Writes the file named in the prompt, responds slowly to `all the tests`, and responds with text to anything else. */
function answerTo({ turns, tools }: ReadRequest): MockReply {
  const parts = turns.at(-1)?.parts ?? [];
  const last = parts.at(-1);
  const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const has = (name: string) => JSON.stringify(tools).includes(`"${name}"`);
  const call = (name: string, input: unknown) => {
    calls += 1;
    return replies(scriptResponse([callBlock(`toolu_docs${calls}`, name, input)]));
  };
  if (last?.type === 'result') return replies(scriptResponse(['That is done.']));
  const file = /[Ww]rite (\S+\.txt)/.exec(said)?.[1];
  if (file !== undefined && has('write_file')) return call('write_file', { path: file, content: 'Hello.\n' });
  if (/all the tests/.test(said) && has('run_command')) return call('run_command', { command: 'npm test' });
  return replies(scriptResponse(['This is the answer of a model that is not there.']));
}

async function embeddings(request: Request): Promise<Response> {
  const { input } = (await request.json()) as { input: string | string[] };
  const texts = Array.isArray(input) ? input : [input];
  const data = texts.map((text, index) => ({ index, embedding: spread(text) }));
  return Response.json({ data, usage: { prompt_tokens: texts.length, total_tokens: texts.length } });
}

/** Returns a vector that depends only on the text. */
function spread(text: string): number[] {
  const sums = new Array<number>(embeddingSize).fill(0.1);
  for (let at = 0; at < text.length; at += 1) {
    const slot = at % embeddingSize;
    sums[slot] = (sums[slot] ?? 0) + text.charCodeAt(at) / 1000;
  }
  return sums;
}
