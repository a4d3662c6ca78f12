import { AgentError } from '@cobbler/agent';
import { acceptUpdate, readUpdate } from '@cobbler/assistant/telegram';
import type { WorkerParts } from './parts.ts';
import { report } from './parts.ts';
import { text } from './text-response.ts';

/** Serves the webhook. Updates of unauthorized users and unknown updates get 200 too, because Telegram would repeat them. */
export async function takeUpdate(
  request: Request,
  { settings: { secret, allowed }, assistant }: WorkerParts,
): Promise<Response> {
  const { headers, body } = request;
  const { status, reason } = await acceptUpdate({
    secret,
    given: headers.get('x-telegram-bot-api-secret-token'),
    length: headers.get('content-length'),
    body,
    async onUpdate(update) {
      const arrival = readUpdate(update, { allowed });
      try {
        await assistant.receive(arrival);
      } catch (thrown) {
        report(AgentError.from(thrown), `update ${arrival.id}`);
        throw thrown;
      }
    },
  });
  return text(reason, status);
}
