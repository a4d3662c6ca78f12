import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failsWith } from '@cobbler/agent/testing';
import { commandList, sqlMessages } from '@cobbler/assistant';
import { sqliteSql } from '@cobbler/assistant/sqlite';
import { describe, expect, test } from 'vitest';
import { cobbler } from '../support/binary.ts';
import { says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { BotStage } from './assistant-stage.ts';
import { ada, botService, botStage, botToken, until } from './assistant-stage.ts';

const patience = { timeout: 120_000 };

/** Returns the stored messages of the chat, oldest first. */
async function kept({ env }: BotStage): Promise<(readonly [role: string, content: string])[]> {
  const sql = sqliteSql({ file: join(env['COBBLER_HOME'] ?? '', 'assistant', 'chats.db') });
  try {
    const rows = await sqlMessages(sql).recent(String(ada), 100);
    return rows.map(({ role, content }) => [role, content] as const);
  } finally {
    sql.close();
  }
}

describe('the local bot with polling [S3]', () => {
  test(
    'replies to an authorized user, ignores an unauthorized one and stores both rows [S3.1, S3.3, S3.5]',
    patience,
    async () => {
      const service = await botService([says('Hello, Ada.')]);
      const stage = await botStage(service);
      const { telegram } = stage;
      const bot = await stage.start();
      telegram.say(666, 'Let me in.');
      telegram.say(ada, 'Hello?');
      await until(() => telegram.replies(ada).length > 0);
      expect(telegram.replies(ada)).toEqual(['Hello, Ada.']);
      await until(() => bot.log().includes('"done"'));
      expect(await bot.stop()).toBe(0);
      expect(telegram.replies(666)).toEqual([]);
      expect(service.server.exchanges).toHaveLength(1);
      expect(await kept(stage)).toEqual([
        ['user', 'Hello?'],
        ['assistant', 'Hello, Ada.'],
      ]);
      // The log contains the id of the unauthorized user, but no message text, token or key.
      expect(bot.log()).toMatch(/"ignored".*"not an allowed user","user":666/);
      for (const secret of ['Hello', 'Let me in', botToken, testKey]) expect(bot.log()).not.toContain(secret);
      const home = join(stage.env['COBBLER_HOME'] ?? '', 'assistant');
      expect(statSync(home).mode & 0o777).toBe(0o700);
      for (const file of readdirSync(home))
        expect([file, statSync(join(home, file)).mode & 0o077]).toEqual([file, 0]);
    },
  );

  test(
    'registers its commands with Telegram at each start, and starts even if that fails',
    patience,
    async () => {
      const stage = await botStage(await botService([says('Hello.')]));
      stage.telegram.fail('setMyCommands', { type: 'unavailable' });
      const bot = await stage.start();
      expect(bot.log()).toContain('could not register the commands');
      await bot.stop();
      await (await stage.start()).stop();
      const calls = stage.telegram.calls.filter(({ method }) => method === 'setMyCommands');
      expect(calls.map(({ outcome }) => outcome)).toEqual(['refused', 'done']);
      const { commands } = calls[1]?.payload ?? {};
      expect((commands as { command: string }[]).map(({ command }) => command)).toEqual(
        commandList.map(({ name }) => name),
      );
      expect(commandList.map(({ name }) => name)).toContain('again');
    },
  );

  test('uses claude-haiku-4-5 unless ANTHROPIC_MODEL names another model [S3.8]', patience, async () => {
    const service = await botService([says('One.'), says('Two.')]);
    const stage = await botStage(service);
    for (const [env, text] of [
      [{}, 'One.'],
      [{ ANTHROPIC_MODEL: 'claude-other' }, 'Two.'],
    ] as const) {
      const bot = await stage.start([], env);
      stage.telegram.say(ada, 'Hello?');
      await until(() => stage.telegram.replies(ada).includes(text));
      await bot.stop();
    }
    const models = service.server.exchanges.map(({ text }) => JSON.parse(text).model);
    expect(models).toEqual(['claude-haiku-4-5', 'claude-other']);
  });

  test('sends the last 20 of 25 messages to the model [S3.11]', patience, async () => {
    const service = await botService(Array.from({ length: 13 }, (_, index) => says(`Answer ${index + 1}.`)));
    const stage = await botStage(service);
    await stage.start();
    for (let count = 1; count <= 13; count += 1) {
      stage.telegram.say(ada, `Question ${count}.`);
      await until(() => stage.telegram.replies(ada).length === count);
    }
    const { messages } = JSON.parse(service.server.exchanges[12]?.text ?? '');
    const texts: string[] = messages.flatMap(({ content }: { content: string | { text: string }[] }) =>
      typeof content === 'string' ? [content] : content.map(({ text }) => text),
    );
    const wanted = Array.from({ length: 20 }, (_, index) => index + 6).map((place) =>
      place % 2 === 1 ? `Question ${(place + 1) / 2}.` : `Answer ${place / 2}.`,
    );
    expect(texts.filter((text) => /^(Question|Answer) \d+\.$/.test(text))).toEqual(wanted);
  });

  test(
    'replies with a friendly error when the model returns 500, and keeps the message [S3.4]',
    patience,
    async () => {
      const fault = failsWith({ kind: 'agent', message: 'broken' });
      const service = await botService(Array.from({ length: 20 }, () => fault));
      const stage = await botStage(service);
      const bot = await stage.start(['--retry-for', 'never']);
      stage.telegram.say(ada, 'Hello?');
      await until(() => stage.telegram.replies(ada).length > 0);
      expect(stage.telegram.replies(ada)[0]).toMatch(/went wrong|overloaded/);
      await until(() => bot.log().includes('"failed to reply"'));
      await bot.stop();
      expect(await kept(stage)).toEqual([['user', 'Hello?']]);
    },
  );

  test(
    'replies to two quick messages in order, and sends the first response with the second request',
    patience,
    async () => {
      const service = await botService([says('First.'), says('Second.')]);
      const stage = await botStage(service);
      stage.telegram.say(ada, 'One?');
      stage.telegram.say(ada, 'Two?');
      await stage.start();
      await until(() => stage.telegram.replies(ada).length === 2);
      expect(stage.telegram.replies(ada)).toEqual(['First.', 'Second.']);
      expect(service.server.exchanges[1]?.text).toContain('First.');
    },
  );

  test('does not run a sixth tool call and sends the final response [S3.6]', patience, async () => {
    const calls = Array.from({ length: 6 }, (_, index) =>
      says('', ['list_files', { pattern: `${index}.*` }]),
    );
    const service = await botService([...calls, says('Five looks will do.')]);
    const stage = await botStage(service);
    const bot = await stage.start(['--tools', 'list_files', '-C', temporaryFolder()]);
    stage.telegram.say(ada, 'Look six times.');
    await until(() => stage.telegram.replies(ada).length > 0);
    expect(stage.telegram.replies(ada)).toEqual(['Five looks will do.']);
    await bot.stop();
    const audit = await cobbler(['assistant', 'audit', '--json', '--chat', String(ada)], { env: stage.env });
    const entries = audit.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const tools = entries.filter(({ kind }) => kind === 'tool');
    expect(tools.filter(({ status }) => status === 'done')).toHaveLength(5);
    expect(tools[0]).toMatchObject({ chatId: '7', tool: 'list_files', effect: 'read', status: 'done' });
    expect(entries.filter(({ kind }) => kind === 'model')).toHaveLength(7);
    expect(entries[0]).toMatchObject({ kind: 'model', status: 'tool_use' });
  });

  test(
    'waits for approval of a write across a restart, and the audit names the user who allowed it',
    patience,
    async () => {
      const service = await botService([
        says('', ['write_file', { path: 'note.txt', content: 'milk\n' }]),
        says('Written.'),
      ]);
      const stage = await botStage(service);
      const { telegram } = stage;
      const folder = temporaryFolder();
      const args = ['--tools', 'write_file', '-C', folder];
      const first = await stage.start(args);
      telegram.say(ada, 'Note milk.');
      await until(() => telegram.messages(ada).some(({ buttons }) => buttons.length > 0));
      await first.stop('SIGKILL');
      await stage.start(args);
      const question = telegram.messages(ada).find(({ buttons }) => buttons.length > 0);
      telegram.tap(ada, question?.id ?? 0, question?.buttons[0]?.data ?? '');
      await until(() => telegram.replies(ada).includes('Written.'));
      expect(readFileSync(join(folder, 'note.txt'), 'utf8')).toBe('milk\n');
      const { stdout } = await cobbler(['assistant', 'audit'], { env: stage.env });
      expect(stdout).toMatch(/tool {2,}done {2}write_file {2}\w+ {2}allow by 7/);
    },
  );

  test('reports permanent errors with advice', patience, async () => {
    const stage = await botStage(await botService([]));
    const none = await cobbler(['assistant'], { env: { ...stage.env, TELEGRAM_BOT_TOKEN: '' } });
    expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/BotFather[\s\S]*--local/)]);
    const keyless = await cobbler(['assistant'], { env: { ...stage.env, ANTHROPIC_API_KEY: '' } });
    expect([keyless.code, keyless.stderr]).toEqual([
      2,
      expect.stringMatching(/ANTHROPIC_API_KEY[\s\S]*--local/),
    ]);
    const named = await cobbler(['assistant'], { env: { ...stage.env, TELEGRAM_ALLOWED_USERS: '@ada' } });
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('"@ada"')]);
    const wrong = await stage.start([], { TELEGRAM_BOT_TOKEN: '12345678:another' });
    expect(await wrong.ended).toBe(2);
    expect(wrong.log()).toContain('rejected this token');
    const bot = await stage.start([], { TELEGRAM_ALLOWED_USERS: '' });
    await until(() => /"warn".*every user is ignored/.test(bot.log()));
    const second = await stage.start();
    expect(await second.ended).toBe(2);
    expect(second.log()).toContain('already running');
  });
});
