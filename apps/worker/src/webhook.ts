import { AgentError } from '@cobbler/agent';
import { readUpdate, secretMatches } from '@cobbler/assistant/telegram';
import type { WorkerParts } from './parts.ts';
import { report } from './parts.ts';

/** Maximum length of an update's body; updates of Telegram are far smaller. */
const maxBodyLength = 262_144;

/**
 * Accepts an update. It responds 200 once the update is recorded, so that Telegram drops it. This includes updates of
 * unauthorized users and unknown updates, because Telegram would repeat them. It responds 503 if the update could not
 * be recorded, so that Telegram repeats it.
 */
export async function takeUpdate(request: Request, { settings, assistant }: WorkerParts): Promise<Response> {
  const given = request.headers.get('x-telegram-bot-api-secret-token');
  if (!(await secretMatches(given, settings.secret))) return text('wrong secret', 401);
  const body = await boundedText(request);
  if (body === undefined) return text('too large', 413);
  const update = readUpdate(parseJson(body), { allowed: settings.allowed });
  if (update.type === 'ignored') return text('ignored', 200);
  try {
    await assistant.receive(update);
    return text('taken', 200);
  } catch (thrown) {
    report(AgentError.from(thrown), `update ${update.id}`);
    return text('not recorded, please retry', 503);
  }
}

/** Reads the body; undefined if it is too large. The excess is not read. */
async function boundedText(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyLength) return undefined;
  const decoder = new TextDecoder();
  let length = 0;
  let body = '';
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > maxBodyLength) return undefined;
    body += decoder.decode(chunk, { stream: true });
  }
  return body + decoder.decode();
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export function text(body: string, status: number): Response {
  return new Response(`${body}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
