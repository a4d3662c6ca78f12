import type { Runtime } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { FakeChats, Payload } from './chats.ts';
import type { FakeFault } from './faults.ts';
import { afterCall, beforeCall } from './faults.ts';
import { messageOf } from './people.ts';
import { badRequest, Refused } from './refused.ts';
import type { FakeUpdates } from './updates.ts';

/** A call of the bot. */
export interface FakeCall {
  readonly method: string;
  readonly payload: Payload;
  /** Time of the call in milliseconds since 1970, by the runtime's clock. */
  readonly at: number;
  /** True if Telegram performed it, false if it rejected it or did not receive it. Absent while it is active. */
  outcome?: 'done' | 'refused' | 'broken';
  /** The description of a rejection. */
  description?: string;
}

export interface BotApiOptions {
  readonly token: string;
  readonly runtime: Runtime;
  readonly bot: object;
  readonly chats: FakeChats;
  readonly updates: FakeUpdates;
}

/** The part of the fake that the bot sees: methods over HTTP. */
export class BotApi {
  readonly calls: FakeCall[] = [];
  /** Confirmed button presses, with the text of each. */
  readonly heard: Map<string, string> = new Map<string, string>();
  readonly #openPresses = new Set<string>();
  readonly #faults: { readonly method: string; readonly fault: FakeFault }[] = [];
  readonly #options: BotApiOptions;

  constructor(options: BotApiOptions) {
    this.#options = options;
  }

  openPress(): string {
    const id = `tap-${this.#options.runtime.id()}`;
    this.#openPresses.add(id);
    return id;
  }

  forgetTaps(): void {
    this.#openPresses.clear();
  }

  fail(method: string, fault: FakeFault, times: number): void {
    for (let time = 0; time < times; time += 1) this.#faults.push({ method, fault });
  }

  async handle(request: Request): Promise<Response> {
    const { runtime, token } = this.#options;
    const { given, method } = pathOf(request.url);
    if (given === undefined || !/^\d+:[\w-]+$/.test(given)) return answerOf(new Refused(404, 'Not Found'));
    if (given !== token) return answerOf(new Refused(401, 'Unauthorized'));
    const payload = await payloadOf(request).catch((error: unknown) => error);
    if (payload instanceof Refused) return answerOf(payload);
    const call: FakeCall = { method, payload: payload as Payload, at: runtime.now() };
    this.calls.push(call);
    const fault = this.#nextFault(method);
    try {
      await beforeCall(fault, runtime, request.signal);
      const result = await this.#execute(method, call.payload, request.signal);
      call.outcome = 'done';
      return await afterCall(fault, answerOf({ result }), request.signal);
    } catch (error) {
      if (!(error instanceof Refused)) {
        call.outcome ??= 'broken';
        throw error;
      }
      call.outcome = 'refused';
      call.description = error.message;
      return answerOf(error);
    }
  }

  async #execute(method: string, payload: Payload, left: AbortSignal): Promise<unknown> {
    const { bot, chats, updates } = this.#options;
    switch (method) {
      case 'getMe':
        return bot;
      case 'sendMessage':
        return messageOf(chats.send(payload), { id: Number(payload['chat_id']) }, bot);
      case 'sendDocument':
        return messageOf(chats.sendFile(payload), { id: Number(payload['chat_id']) }, bot);
      case 'editMessageText':
        return messageOf(chats.edit(payload), { id: Number(payload['chat_id']) }, bot);
      case 'sendChatAction':
        chats.act(payload);
        return true;
      case 'answerCallbackQuery':
        return this.#answerCallbackQuery(payload);
      case 'getUpdates':
        return await updates.fetch(payload, left);
      case 'setMyCommands':
        return this.#register(payload);
      case 'setWebhook':
        return updates.setWebhook(payload);
      case 'deleteWebhook':
        return updates.deleteWebhook(payload);
      case 'getWebhookInfo':
        return {
          url: updates.webhook?.url ?? '',
          has_custom_certificate: false,
          pending_update_count: updates.pending.length,
        };
      default:
        throw new Refused(404, 'Not Found: method not found');
    }
  }

  #register({ commands }: Payload): boolean {
    if (!Array.isArray(commands) || commands.length > 100) throw badRequest("can't parse BotCommand");
    for (const { command, description } of commands as { command?: unknown; description?: unknown }[]) {
      if (!/^[a-z0-9_]{1,32}$/.test(String(command))) throw badRequest('BOT_COMMAND_INVALID');
      const { length } = String(description ?? '').trim();
      if (length < 1 || length > 256) throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
    }
    return true;
  }

  #answerCallbackQuery({ callback_query_id: id, text = '' }: Payload): boolean {
    if (typeof id !== 'string' || !this.#openPresses.delete(id))
      throw badRequest('query is too old and response timeout expired or query ID is invalid');
    if (String(text).length > 200) throw badRequest('MESSAGE_TOO_LONG');
    this.heard.set(id, String(text));
    return true;
  }

  #nextFault(method: string): FakeFault | undefined {
    const index = this.#faults.findIndex((planned) => planned.method === method || planned.method === '*');
    return index < 0 ? undefined : this.#faults.splice(index, 1)[0]?.fault;
  }
}

function pathOf(url: string): { given: string | undefined; method: string } {
  const match = /^\/bot([^/]*)\/(\w+)$/.exec(decodeURIComponent(new URL(url).pathname));
  return { given: match?.[1], method: match?.[2] ?? '' };
}

/** Returns an HTTP response of the Bot API. */
function answerOf(outcome: { readonly result: unknown } | Refused): Response {
  const json = { 'content-type': 'application/json' };
  if (!(outcome instanceof Refused))
    return new Response(JSON.stringify({ ok: true, result: outcome.result }), { headers: json });
  const { status, message, parameters } = outcome;
  const body = {
    ok: false,
    error_code: status,
    description: message,
    ...defined({ parameters }),
  };
  return new Response(JSON.stringify(body), { status, headers: json });
}

/** Returns the payload of a call, which is JSON, a form or the query. */
async function payloadOf(request: Request): Promise<Record<string, unknown>> {
  const query = Object.fromEntries(new URL(request.url).searchParams);
  const type = request.headers.get('content-type') ?? '';
  if (type.includes('multipart/form-data')) return { ...query, ...(await formOf(request)) };
  const text = await request.text();
  if (text === '') return query;
  if (type.includes('application/x-www-form-urlencoded'))
    return { ...query, ...Object.fromEntries(new URLSearchParams(text)) };
  if (!type.includes('application/json')) throw new Refused(400, 'Bad Request: unsupported content type');
  try {
    return { ...query, ...(JSON.parse(text) as Record<string, unknown>) };
  } catch {
    throw new Refused(400, "Bad Request: can't parse JSON object");
  }
}

async function formOf(request: Request): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of await request.formData())
    fields[name] =
      typeof value === 'string' ? value : { name: value.name, type: value.type, text: await value.text() };
  return fields;
}
