// What the commands of the documents speak to in the place of services on the network: models, and Telegram.
import type { MockReply, ProviderTesting, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { fakeTelegram } from '@cobbler/assistant/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { chatTesting, responsesTesting } from '@cobbler/provider-openai/testing';

/** Services on ports of this machine. */
export interface StandIns {
  readonly modelUrl: string;
  readonly telegramUrl: string;
  close(): Promise<void>;
}

/** Made up, and of the form that is checked. */
export const standInKeys = {
  anthropic: 'sk-ant-docs-0123456789abcdefghijklmnop',
  openai: 'sk-docs-0123456789abcdefghijklmnop',
  telegram: '12345678:AAEdocs0123456789abcdefghijklmnopqr',
} as const;

/** Numbers that an embedding of the made-up model has. */
const embeddingSize = 8;

/** Opens them all; a request that the real service would refuse is refused here too. */
export async function openStandIns(): Promise<StandIns> {
  const claude = modelOf(claudeTesting);
  const responses = modelOf(responsesTesting);
  const chat = modelOf(chatTesting);
  const model = await serveLoopback(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith('/messages')) return claude(request);
    if (pathname.endsWith('/responses')) return responses(request);
    if (pathname.endsWith('/chat/completions')) return chat(request);
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

/** Writes the file that a prompt speaks of, takes its time over `all the tests`, and has a word for anything else. */
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

/** Any vector will do, as long as a text always has the same. */
function spread(text: string): number[] {
  const sums = new Array<number>(embeddingSize).fill(0.1);
  for (let at = 0; at < text.length; at += 1) {
    const slot = at % embeddingSize;
    sums[slot] = (sums[slot] ?? 0) + text.charCodeAt(at) / 1000;
  }
  return sums;
}
