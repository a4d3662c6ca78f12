import type { Runtime } from '@cobbler/agent';
import type { Payload } from './chats.ts';
import { badRequest, Refused } from './refused.ts';

/** An update as the Bot API sends it. */
export interface FakeUpdate {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

/** A registered webhook. */
export interface FakeWebhook {
  readonly url: string;
  readonly secret?: string;
  readonly allowed: readonly string[];
  readonly maxConnections: number;
}

const kinds: ReadonlySet<string> = new Set([
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'my_chat_member',
  'chat_member',
  'inline_query',
  'message_reaction',
]);

/** Types of updates that are delivered only if they are requested. */
const onlyWhenNamed: ReadonlySet<string> = new Set(['chat_member', 'message_reaction']);

/** Pending updates, which the bot receives by polling or by webhook. */
export class FakeUpdates {
  readonly #pending: FakeUpdate[] = [];
  readonly #runtime: Runtime;
  readonly #plainHttp: boolean;
  #allowed: readonly string[] = [];
  #webhook: FakeWebhook | undefined;
  /** Functions that end the pending long poll. */
  #poll: { wake(): void; end(reason: Refused): void } | undefined;
  #lastId = 870_000_000;

  constructor(runtime: Runtime, plainHttp: boolean) {
    this.#runtime = runtime;
    this.#plainHttp = plainHttp;
  }

  get pending(): readonly FakeUpdate[] {
    return this.#pending;
  }

  get webhook(): FakeWebhook | undefined {
    return this.#webhook;
  }

  /** Adds an update to the queue. */
  add(kind: string, content: object): FakeUpdate {
    this.#lastId += 1;
    const update: FakeUpdate = { update_id: this.#lastId, [kind]: content };
    if (this.#wants(kind)) this.#pending.push(update);
    this.#poll?.wake();
    return update;
  }

  /** Removes an update that the bot has received. */
  done({ update_id: id }: FakeUpdate): void {
    const index = this.#pending.findIndex((update) => update.update_id === id);
    if (index >= 0) this.#pending.splice(index, 1);
  }

  setWebhook(payload: Payload): boolean {
    const { url = '', secret_token: secret, max_connections: connections } = payload;
    if (url === '') return this.deleteWebhook(payload);
    if (typeof url !== 'string' || !URL.canParse(url))
      throw badRequest('bad webhook: invalid webhook URL specified');
    const { protocol, port } = new URL(url);
    if (!this.#plainHttp) {
      if (protocol !== 'https:') throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
      if (!['', '443', '80', '88', '8443'].includes(port))
        throw badRequest('bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443');
    }
    if (secret !== undefined && (typeof secret !== 'string' || secret.length > 256))
      throw badRequest('secret token is too long');
    if (typeof secret === 'string' && !/^[\w-]*$/.test(secret))
      throw badRequest('secret token contains unallowed characters');
    this.#takeAllowed(payload);
    this.#dropPending(payload);
    this.#webhook = {
      url,
      allowed: this.#allowed,
      maxConnections: typeof connections === 'number' ? Math.min(Math.max(connections, 1), 100) : 40,
      ...(typeof secret === 'string' && secret !== '' && { secret }),
    };
    this.#poll?.end(new Refused(409, 'Conflict: terminated by setWebhook request'));
    return true;
  }

  deleteWebhook(payload: Payload): boolean {
    this.#dropPending(payload);
    this.#webhook = undefined;
    return true;
  }

  /** Returns pending updates starting with `offset`; earlier ones are confirmed. Waits if there are none. */
  async fetch(payload: Payload, left: AbortSignal): Promise<readonly FakeUpdate[]> {
    if (this.#webhook !== undefined)
      throw new Refused(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    this.#takeAllowed(payload);
    this.#poll?.end(
      new Refused(
        409,
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
      ),
    );
    const { offset = 0, limit = 100, timeout = 0 } = payload as Record<string, number | undefined>;
    const confirmed = offset < 0 ? (this.#pending.at(offset)?.update_id ?? 0) : offset;
    while (this.#pending[0] !== undefined && this.#pending[0].update_id < confirmed) this.#pending.shift();
    if (this.#pending.length === 0 && timeout > 0) await this.#wait(timeout * 1000, left);
    return this.#pending.slice(0, limit);
  }

  async #wait(ms: number, left: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const poll = { wake: resolve, end: reject };
    const cancel = this.#runtime.timer(Math.min(ms, 50_000), resolve);
    const gone = () => resolve();
    left.addEventListener('abort', gone, { once: true });
    this.#poll = poll;
    try {
      await promise;
    } finally {
      cancel();
      left.removeEventListener('abort', gone);
      if (this.#poll === poll) this.#poll = undefined;
    }
  }

  #wants(kind: string): boolean {
    return this.#allowed.length === 0 ? !onlyWhenNamed.has(kind) : this.#allowed.includes(kind);
  }

  #takeAllowed({ allowed_updates: given }: Payload): void {
    if (given === undefined) return;
    // A form and a query contain lists as JSON.
    const allowed = typeof given === 'string' ? listIn(given) : given;
    if (!Array.isArray(allowed) || !allowed.every((kind) => typeof kind === 'string' && kinds.has(kind)))
      throw badRequest("can't parse allowed_updates JSON object");
    this.#allowed = allowed;
  }

  #dropPending({ drop_pending_updates: drop }: Payload): void {
    if (drop === true) this.#pending.length = 0;
  }
}

function listIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
