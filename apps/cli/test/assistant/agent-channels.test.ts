import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeTelegram, serveTelegram } from '@cobbler/assistant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { assistant } from '../../src/commands/assistant.ts';
import type { Mind, Stage } from '../support/agent-stage.ts';
import { stage } from '../support/agent-stage.ts';
import { bareEnvironment } from '../support/binary.ts';
import type { FakeIo } from '../support/fake-io.ts';
import { fakeIo } from '../support/fake-io.ts';
import { cobbler } from '../support/in-process.ts';
import { put } from '../support/put.ts';
import { botToken } from './assistant-stage.ts';

/** A channel that asks one question, and stops when it has the reply. */
const oneQuestion = `import { appendFileSync } from 'node:fs';
export default (env) => {
  let replied;
  const reply = new Promise((resolve) => { replied = resolve; });
  return {
    name: 'lines',
    pieces: (markdown) => [{ text: markdown }],
    send: async (chatId, { text }) => {
      appendFileSync(env.REPLIES, chatId + ' ' + text + '\\n');
      replied();
      return '1';
    },
    sendFile: async () => '1', edit: async () => {}, typing: async () => {}, heard: async () => {},
    listen: async (receive) => {
      await receive({ type: 'text', id: 'a1', chatId: 'c1', userId: 'u1', sentAt: 1, text: 'How many words: to be' });
      await reply;
    },
  };
};`;

interface ChannelStage extends Stage {
  readonly io: FakeIo;
  readonly replies: string;
}

async function helper(mind: Mind, files: Readonly<Record<string, string>>): Promise<ChannelStage> {
  const place = await stage(mind);
  await cobbler(['new', 'agent', 'helper'], { env: place.env, cwd: place.folder });
  put(join(place.folder, 'helper'), files);
  const replies = join(place.folder, 'replies.txt');
  const env = bareEnvironment({
    ...{ ...place.env, REPLIES: replies, HELPER_TOKEN: botToken, COBBLER_SANDBOX: 'off' },
    ...{ TELEGRAM_ALLOWED_USERS: '99', COBBLER_MODEL: '' },
  });
  const io = fakeIo({ env, cwd: place.folder, input: '', outTty: false, errTty: false });
  return { ...place, io, replies };
}

const counts: Mind = ({ results }) =>
  results.length === 0 ? [['count_words', { text: 'to be' }]] : `It has ${results[0]} words.`;

const patience = { timeout: 30_000 };
const model = 'claude:claude-test';

describe('cobbler assistant --agent', () => {
  test(
    'is the agent on the channel of a module, with its instructions, tools and skills',
    patience,
    async () => {
      const { io, seen, replies, home } = await helper(counts, {
        'channels/lines.ts': oneQuestion,
        'skills/pdf/SKILL.md': '---\ndescription: Reads PDFs\n---\nRead.',
      });
      expect(await assistant([], { agent: 'helper', model }, io)).toBe(0);
      expect(seen[0]?.tools.toSorted()).toEqual(['count_words', 'skill']);
      expect(JSON.stringify(seen[0]?.body['system'])).toContain('You answer questions about texts');
      expect(readFileSync(replies, 'utf8')).toBe('c1 It has 2 words.\n');
      // The files of an agent are apart from those of the assistant and of other channels.
      expect(existsSync(join(home, 'assistant/chats.db'))).toBe(false);
      const [own = ''] = readdirSync(join(home, 'assistant/agents'));
      expect([own, readdirSync(join(home, 'assistant/agents', own))]).toEqual([
        expect.stringMatching(/^helper-[0-9a-f]{8}$/),
        ['lines'],
      ]);
    },
  );

  test('is a bot on Telegram with the token and for the users of its file', patience, async () => {
    const telegram = fakeTelegram({ token: botToken });
    const { url, close } = await serveTelegram(telegram);
    onTestFinished(() => close());
    const { io } = await helper(counts, {
      'channels/telegram.json': '{ "token": "HELPER_TOKEN", "users": [7] }',
    });
    const ended = assistant([], { agent: 'helper', model, apiRoot: url }, io);
    telegram.say(99, 'Not allowed here.');
    telegram.say(7, 'How many words: to be');
    await expect.poll(() => telegram.replies(7), patience).toContain('It has 2 words.');
    io.interrupt();
    expect(await ended).toBe(0);
    expect(telegram.replies(99)).toEqual([]);
    expect(io.stderr.text()).not.toContain(botToken);
  });

  test(
    'names the variable without a token, and the file of a module that is no channel',
    patience,
    async () => {
      const { io } = await helper(counts, { 'channels/telegram.json': '{ "token": "OTHER_TOKEN" }' });
      await expect(assistant([], { agent: 'helper', model }, io)).rejects.toThrow(
        'The bot token is missing: OTHER_TOKEN is not set.',
      );
      const other = await helper(counts, {
        'channels/a.ts': "export default { name: 'a', send: () => {} };",
      });
      await expect(assistant([], { agent: 'helper', model }, other.io)).rejects.toThrow(
        'channels/a.ts exports no channel that can receive messages.',
      );
    },
  );

  test('ends all channels if one cannot start', patience, async () => {
    const waits = oneQuestion.replace(
      'await reply;',
      "await new Promise((resolve) => signal.addEventListener('abort', resolve));",
    );
    const { io } = await helper(counts, {
      'channels/a.ts': waits.replace('async (receive)', 'async (receive, signal)'),
      'channels/b.ts': '\nthrow new Error("No.");',
    });
    await expect(assistant([], { agent: 'helper', model }, io)).rejects.toMatchObject({
      ...{ code: 'agent_folder', message: expect.stringContaining('helper/channels/b.ts:2: No.') },
    });
  });
});
