import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { MockReply } from '@cobbler/agent/testing';
import type { FakeTelegram } from '@cobbler/assistant/testing';
import { fakeTelegram, serveTelegram } from '@cobbler/assistant/testing';
import { betweenAnthropic, throughAiSdk } from '@cobbler/provider-ai-sdk/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { onTestFinished } from 'vitest';
import { bareEnvironment, command } from '../support/binary.ts';
import type { MockService } from '../support/mock-service.ts';
import { mockService, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const botToken = '12345678:AAE-not-a-real-token_0123456789';

/** The only allowed user. */
export const ada = 7;

/** Starts a service for the default model of the assistant, which uses it through the AI SDK. */
export function botService(script: readonly MockReply[]): Promise<MockService> {
  return mockService(script, throughAiSdk(claudeTesting, betweenAnthropic));
}

/** A bot in its own process, with a fake Telegram server. */
export interface BotStage {
  readonly telegram: FakeTelegram;
  readonly apiRoot: string;
  readonly env: Record<string, string>;
  /** Starts the command and waits until it is ready or exits. */
  start(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<BotProcess>;
}

export interface BotProcess {
  readonly child: ChildProcess;
  /** Returns all standard error output so far. */
  log(): string;
  /** Stops the bot with a signal, as a service manager does, and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  readonly ended: Promise<number | null>;
  /** Returns the address of its webhook. */
  address(): string;
}

export async function botStage(service?: MockService): Promise<BotStage> {
  const where: { address?: string } = {};
  const telegram = fakeTelegram({
    token: botToken,
    // The fake requires an address that Telegram accepts; this line is the proxy before the bot.
    post: (request) => fetch(new Request(where.address ?? request.url, request)),
  });
  const { url: apiRoot, close } = await serveTelegram(telegram);
  onTestFinished(() => close());
  const env = {
    COBBLER_HOME: temporaryFolder(),
    TELEGRAM_BOT_TOKEN: botToken,
    TELEGRAM_ALLOWED_USERS: String(ada),
    ANTHROPIC_API_KEY: testKey,
    ...(service !== undefined && { ANTHROPIC_BASE_URL: service.url }),
  };
  return {
    telegram,
    apiRoot,
    env,
    async start(args = [], more = {}) {
      const bot = launched([...args, '--api-root', apiRoot], { ...env, ...more });
      const sign = args.includes('--webhook') ? 'listening' : 'ready';
      await until(() => bot.log().includes(`"${sign}"`) || bot.child.exitCode !== null);
      if (args.includes('--webhook')) where.address = bot.address();
      return bot;
    },
  };
}

function launched(args: readonly string[], env: Readonly<Record<string, string>>): BotProcess {
  const [program = '', ...flags] = command;
  const child = spawn(program, [...flags, 'assistant', ...args], {
    env: bareEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  child.stdout.resume();
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return {
    child,
    log: () => log,
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
    address: () => /"url":"(http:[^"]+)"/.exec(log)?.[1] ?? '',
  };
}

/** Waits for a condition that another process meets. */
export async function until(holds: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  for (const deadline = performance.now() + ms; performance.now() < deadline; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  throw new Error(`Not true within ${ms} ms: ${holds}`);
}
