import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError } from '@cobbler/agent';
import { serveLoopback } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAssistantFlags } from '../../src/assistant/assistant-flags.ts';
import { assistantHome, lockHome, webhookSecret } from '../../src/assistant/assistant-home.ts';
import { BotLog } from '../../src/assistant/bot-log.ts';
import { chooseEmbedder } from '../../src/assistant/choose-embedder.ts';
import { explainError } from '../../src/assistant/telegram-access.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const io = { env: {}, cwd: () => '/' };

describe('the embedder', () => {
  test('compares words by default and says that it does not compare meaning', async () => {
    const { embedder, words } = await chooseEmbedder(undefined, undefined, {});
    expect([embedder.name, words]).toEqual(['lexical-1', expect.stringContaining('not by meaning')]);
  });

  test('detects the vector length of another server and sends it no provider key', async () => {
    const keys: (string | null)[] = [];
    const { url, close } = await serveLoopback((request) => {
      keys.push(request.headers.get('authorization'));
      return Response.json({ data: [{ index: 0, embedding: [1, 0, 0] }] });
    });
    onTestFinished(() => close());
    const { embedder } = await chooseEmbedder(`${url}/v1#some-model`, 0.4, { OPENAI_API_KEY: 'sk-secret' });
    expect(embedder).toMatchObject({ dimensions: 3, floor: 0.4 });
    expect(keys).toEqual([null]);
  });

  test.each([
    ['openai', 'OPENAI_API_KEY'],
    ['http://localhost:1/v1', 'URL#MODEL'],
    ['voyage', 'URL#MODEL'],
  ])('rejects %s and says why', async (given, words) => {
    const failure = chooseEmbedder(given, undefined, {});
    await expect(failure.catch((error) => [error.message, ...error.advice].join())).resolves.toContain(words);
  });
});

describe('options', () => {
  test.each([
    [{ local: true, webhook: true }, 'cannot be used together'],
    [{ port: '70000' }, '--port'],
    [{ path: 'telegram' }, '--path'],
    [{ timeZone: 'Mars/Base' }, 'Mars/Base'],
    [{ apiRoot: 'localhost' }, '--api-root'],
    [{ keepDays: 'long' }, '--keep-days'],
    [{ embedderFloor: '2' }, '--embedder-floor'],
    [{ logLevel: 'loud' }, '--log-level'],
    [{ persona: '/nonexistent' }, '/nonexistent'],
  ])('are rejected: %j', (options, words) => {
    expect(() => readAssistantFlags(options, io)).toThrow(words);
  });

  test('have no tools by default and take the time zone from the environment', () => {
    const flags = readAssistantFlags({}, { ...io, env: { COBBLER_ASSISTANT_TIME_ZONE: 'Asia/Kolkata' } });
    expect(flags).toMatchObject({
      work: { tools: [] },
      timeZone: 'Asia/Kolkata',
      host: '127.0.0.1',
      keepDays: 30,
    });
  });
});

describe('the home directory', () => {
  test('is locked by one process until that process releases it', async () => {
    const home = assistantHome({ COBBLER_HOME: temporaryFolder() });
    const unlock = lockHome(home);
    expect(lockHome(home)).toBeUndefined();
    unlock?.();
    lockHome(home)?.();
    expect(statSync(home.lock).mode & 0o777).toBe(0o600);
  });

  test('keeps the webhook secret unless the environment sets one, which must be valid', () => {
    const home = assistantHome({ COBBLER_HOME: temporaryFolder() });
    const made = webhookSecret(home, {});
    expect([webhookSecret(home, {}), readFileSync(join(home.folder, 'webhook-secret'), 'utf8')]).toEqual([
      made,
      `${made}\n`,
    ]);
    expect(webhookSecret(home, { TELEGRAM_WEBHOOK_SECRET: 'own' })).toBe('own');
    expect(() => webhookSecret(home, { TELEGRAM_WEBHOOK_SECRET: 'not one' })).toThrow(
      'TELEGRAM_WEBHOOK_SECRET',
    );
  });
});

test('the log omits secrets and entries below its level', () => {
  for (const forPeople of [true, false]) {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = new BotLog({ write, level: 'info', forPeople, secrets: ['1:abc'], now: () => 0 });
    log.note('debug', 'text', { text: 'private' });
    log.note('warn', 'failed', { why: 'POST /bot1:abc/getMe\nfailed' });
    expect(lines.join('')).toMatch(/warn.*failed.*redacted.*getMe/);
    expect(lines.join('')).not.toMatch(/1:abc|private/);
    expect(lines).toHaveLength(1);
  }
});

test.each([
  ['webhook_set', 'delete-webhook'],
  ['other_poller', '/revoke'],
])('explains the Telegram error 409 %s', (code, words) => {
  const error = explainError(new AgentError({ kind: 'invalid', code, message: 'Conflict' }));
  expect(error).toHaveProperty('advice', [expect.stringContaining(words)]);
});
