import { generateKeyPairSync } from 'node:crypto';
import type { Loopback, MockReply, ReadRequest, WireServer } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { migrations } from '@cobbler/assistant';
import { telegramApi } from '@cobbler/assistant/telegram';
import type { FakeDelivery, FakeTelegram, FakeUpdate } from '@cobbler/assistant/testing';
import { fakeTelegram, serveTelegram } from '@cobbler/assistant/testing';
import { betweenAnthropic, throughAiSdk } from '@cobbler/provider-ai-sdk/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { Lines } from './lines.ts';
import type { WorkerSettings } from './workerd.ts';
import { bundled, sqlDoor, Workerd } from './workerd.ts';

export const token = '123456:worker-Token_1';
export const secret = 'worker_secret-1';
const key = 'sk-ant-worker-key';
export const auditToken = 'audit-token-of-at-least-32-characters';
const auditKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });

/** The users who may talk to the bot. */
export const people: readonly number[] = Array.from({ length: 30 }, (_, index) => 1001 + index);

/** Returns the model's response to a request. */
export type Brain = (request: ReadRequest) => MockReply | Promise<MockReply>;

/** Returns a response with text. */
export function says(text: string): MockReply {
  return replies(scriptResponse([text]));
}

/** Returns a response that calls a tool. */
export function calls(name: string, text: string): MockReply {
  return replies(scriptResponse([callBlock(`call_${text}`, name, { text })]));
}

/** Returns the texts of a request's conversation. */
export function textsOf({ turns }: ReadRequest): string[] {
  return turns.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''));
}

export interface TownOptions {
  readonly script: string;
  /** Workers AI and Vectorize are bound to fakes. */
  readonly hasVectors?: boolean;
}

/** The worker in a real workerd, with mock Telegram and Anthropic services on local ports. */
export class Town {
  readonly telegram: FakeTelegram;
  readonly claude: WireServer;
  readonly lines: Lines = new Lines();
  brain: Brain = () => says('Yes.');
  readonly #loopbacks: Loopback[] = [];
  #workerd: Workerd | undefined;

  constructor() {
    this.telegram = fakeTelegram({
      token,
      plainHttp: true,
      post: async (request) =>
        await this.workerd.fetch(request.url, {
          method: request.method,
          headers: Object.fromEntries(request.headers),
          body: await request.text(),
        }),
    });
    this.claude = wireServer(
      throughAiSdk(claudeTesting, betweenAnthropic),
      (request) => this.brain(request),
      {
        secret: key,
      },
    );
  }

  get workerd(): Workerd {
    if (this.#workerd === undefined) throw new Error('workerd has not started.');
    return this.#workerd;
  }

  async begin({ script, hasVectors = false }: TownOptions): Promise<void> {
    const telegram = await serveTelegram(this.telegram);
    const claude = await serveLoopback(this.claude.handler);
    const counter = await serveLoopback((request) => this.lines.answer(request));
    this.#loopbacks.push(telegram, claude, counter);
    const app: WorkerSettings = {
      name: 'app',
      script,
      d1Databases: { DB: 'assistant' },
      workflows: { TURNS: { name: 'turns', className: 'AssistantWorkflow' } },
      bindings: {
        TELEGRAM_BOT_TOKEN: token,
        TELEGRAM_WEBHOOK_SECRET: secret,
        TELEGRAM_ALLOWED_USERS: people.join(', '),
        TELEGRAM_API_ROOT: telegram.url,
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_BASE_URL: claude.url,
        AUDIT_KEY: auditKey.toString('base64'),
        AUDIT_TOKEN: auditToken,
        COUNTER: counter.url,
        TIME_ZONE: 'Europe/Berlin',
        USER_BUDGET: '{"per":"day","limits":{"requests":20}}',
      },
      ...(hasVectors && {
        serviceBindings: {
          AI: { name: 'fakes', entrypoint: 'FakeAi' },
          VECTORIZE: { name: 'fakes', entrypoint: 'FakeVectorize' },
        },
      }),
    };
    const fakes = hasVectors
      ? [{ name: 'fakes', script: await bundled(new URL('fakes-worker.ts', import.meta.url)) }]
      : [];
    this.#workerd = await Workerd.start(app, sqlDoor({ DB: 'assistant' }), ...fakes);
    await this.sql(...migrations.flatMap(({ statements }) => statements));
    const api = telegramApi({ token, apiRoot: telegram.url });
    await api.raw.setWebhook({ url: 'http://worker.invalid/telegram', secret_token: secret });
  }

  async end(): Promise<void> {
    await this.#workerd?.dispose();
    for (const loopback of this.#loopbacks) await loopback.close();
  }

  sql(...texts: readonly string[]): Promise<Record<string, unknown>[]> {
    return this.workerd.sql(...texts);
  }

  /** Sends a user's message and delivers the update. */
  async say(person: number, text: string): Promise<FakeDelivery[]> {
    this.telegram.say(person, text);
    return await this.telegram.deliver();
  }

  /** Sends a user's message and waits for the next reply. */
  async ask(person: number, text: string): Promise<string> {
    const count = this.telegram.replies(person).length + 1;
    await this.say(person, text);
    return (await this.replies(person, count)).at(-1) ?? '';
  }

  /** Returns the bot's replies when there are at least `count`. */
  async replies(person: number, count: number): Promise<string[]> {
    await until(`${count} replies to ${person}`, () => this.telegram.replies(person).length >= count);
    return this.telegram.replies(person);
  }

  /** Delivers updates again. */
  again(...updates: readonly FakeUpdate[]): Promise<FakeDelivery[]> {
    return this.telegram.deliver({ updates });
  }

  /** Resolves when no run is open. */
  async quiet(): Promise<void> {
    await until('all runs have ended', async () => {
      const [row] = await this.sql("SELECT count(*) AS open FROM runs WHERE state IN ('queued', 'running')");
      return row?.['open'] === 0;
    });
  }

  /** Kills the engine, starts another, and then triggers the timer as if much time had passed. */
  async restart(): Promise<void> {
    await this.workerd.kill();
    await this.workerd.begin();
    // Makes everything that was being sent at the crash look old.
    await this.sql(
      'UPDATE runs SET updated_at = 0',
      "UPDATE outbox SET updated_at = 0 WHERE state = 'sending'",
    );
    await this.workerd.scheduled('*/15 * * * *');
  }
}

/** Polls until a condition is true. @throws Error after 25 seconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 1000; look += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Timed out, waiting until ${what}.`);
}
