import type { Reader } from '@cobbler/agent/input';
import { flag, listOf, record, when } from '@cobbler/agent/input';
import { isObject } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { readTimes } from './people.ts';
import type { FakeUpdate, FakeUpdates, FakeWebhook } from './updates.ts';

/** The outcome of one delivery of an update. */
export interface FakeDelivery {
  readonly updateId: number;
  /** Number of the attempt, starting at 1. */
  readonly attempt: number;
  /** Status of the webhook's response; absent without a response. */
  readonly status?: number;
}

/** Options of a delivery: the updates, the number of attempts and the secret. */
export interface WebhookDeliveryOptions {
  /** Number of deliveries of an update before the real API would pause. Default 3. */
  readonly attempts?: number;
  /** True to deliver all updates at the same time, as over several connections. Default: one after another. */
  readonly together?: boolean;
  /** Updates to deliver again, whether or not they were delivered before. Default: pending updates. */
  readonly updates?: readonly FakeUpdate[];
  /** Sent in place of the webhook's secret; null sends none. */
  readonly secret?: string | null;
}

/** Reads the options of a delivery. */
export const readDelivery: Reader<WebhookDeliveryOptions> = record<WebhookDeliveryOptions>({
  attempts: readTimes,
  together: flag,
  updates: listOf(
    when<FakeUpdate>((value) => isObject(value) && Number.isInteger(value['update_id']), 'an update'),
  ),
  secret: when((value) => value === null || typeof value === 'string', 'a string or null'),
});

/** Delivers a request to a local webhook or over the network. */
export type Post = (request: Request) => Promise<Response>;

/** Delivers each update to the webhook until it responds with 2xx, always with the same id and without delays. */
export async function deliverUpdates(
  updates: FakeUpdates,
  webhook: FakeWebhook,
  post: Post,
  options: WebhookDeliveryOptions,
): Promise<FakeDelivery[]> {
  const { attempts = 3, together = false, secret = webhook.secret ?? null } = options;
  const due = [...(options.updates ?? updates.pending)];
  const offer = async (update: FakeUpdate): Promise<FakeDelivery[]> => {
    const tries: FakeDelivery[] = [];
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const status = await statusOf(post, webhook.url, update, secret);
      tries.push({ updateId: update.update_id, attempt, ...defined({ status }) });
      if (status !== undefined && status >= 200 && status < 300) {
        updates.done(update);
        break;
      }
    }
    return tries;
  };
  if (together) return (await Promise.all(due.map(offer))).flat();
  const deliveries: FakeDelivery[] = [];
  for (const update of due) deliveries.push(...(await offer(update)));
  return deliveries;
}

async function statusOf(
  post: Post,
  url: string,
  update: FakeUpdate,
  secret: string | null,
): Promise<number | undefined> {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (secret !== null) headers.set('x-telegram-bot-api-secret-token', secret);
  try {
    const response = await post(new Request(url, { method: 'POST', headers, body: JSON.stringify(update) }));
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}
