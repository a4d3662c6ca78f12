import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentFolder } from '@cobbler/agent/definitions';
import { loadAgent, readAgentFolder } from '@cobbler/agent/definitions';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-parts-')));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Reads an agent with these files. */
async function agentWith(files: Readonly<Record<string, string>>): Promise<AgentFolder> {
  for (const [path, text] of Object.entries({ 'instructions.md': 'Help.', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return await readAgentFolder(root);
}

const schedule = (settings: string, prompt = 'Report.') => ({
  'schedules/daily.md': `---\n${settings}\n---\n${prompt}\n`,
});

const at = (time: string) => Date.parse(time);

/** Returns the lines that `cobbler info` shows for broken files. */
const broken = async (files: Readonly<Record<string, string>>) =>
  (await agentWith(files)).unused
    .filter(({ isBroken }) => isBroken)
    .map(({ path, line, reason }) => `${path}:${line} ${reason}`);

describe('schedules of an agent', () => {
  it('have a time, a time zone and a prompt, and know their next and latest times', async () => {
    const { schedules, unused } = await agentWith(schedule('cron: 30 2 * * *\ntimezone: Europe/Berlin'));
    expect(unused).toEqual([]);
    const [daily] = schedules;
    expect(daily).toMatchObject({
      name: 'daily',
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      prompt: 'Report.',
    });
    const next = (time: string) => new Date(daily?.next(at(time)) ?? 0).toISOString();
    const latest = (time: string) => new Date(daily?.latest(at(time)) ?? 0).toISOString();
    expect(next('2026-11-30T01:30:00Z')).toBe('2026-12-01T01:30:00.000Z');
    expect(latest('2026-11-30T01:30:00Z')).toBe('2026-11-30T01:30:00.000Z');
    expect(latest('2026-11-30T01:29:59Z')).toBe('2026-11-29T01:30:00.000Z');
    // This hour does not exist in the first night, and exists twice in the second one.
    expect(next('2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
    expect([next('2026-10-24T12:00:00Z'), next('2026-10-25T00:30:00Z')]).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it('can start with a star without quotes, and are in the time zone of the machine by default', async () => {
    const [one] = (await agentWith(schedule('cron: */5 * * * *'))).schedules;
    expect(one).toMatchObject({
      cron: '*/5 * * * *',
      timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
  });

  it.each([
    [
      'cron: 0 25 * * *',
      'Report.',
      ':2 its cron expression "0 25 * * *" is invalid: Invalid value for hour: 25. Write minute',
    ],
    [
      'timezone: UTC\ncron: 0 0 9 * * *',
      'Report.',
      ':3 its cron expression "0 0 9 * * *" is invalid: it must have 5 fields. Write',
    ],
    ['cron: "@daily"', 'Report.', ':2 its cron expression "@daily" is invalid: it must have 5 fields'],
    [
      'cron: 0 0 30 2 *',
      'Report.',
      ':2 its cron expression "0 0 30 2 *" is invalid: this date does not exist',
    ],
    [
      'cron: 0 9 * * *\ntimezone: Mars/Base',
      'Report.',
      ':3 its time zone "Mars/Base" is unknown. Write a name such as',
    ],
    ['timezone: UTC', 'Report.', ':1 it has no setting cron'],
    ['cron: 0 9 * * *', '', ':1 it has no prompt'],
    ['cron: 0 9 * * *\nmodel: fast', 'Report.', ':3 it has an unknown setting model. Known: cron, timezone'],
  ])(
    'with the settings %j and the prompt %j are broken, with the line and what to write',
    async (settings, prompt, message) => {
      expect(await broken(schedule(settings, prompt))).toEqual([
        expect.stringContaining(`schedules/daily.md${message}`),
      ]);
      await expect(loadAgent(root)).rejects.toMatchObject({ code: 'agent_folder' });
    },
  );
});

describe('evals of an agent', () => {
  it('have a case in each line, with one or more texts, patterns and tools', async () => {
    const { evals, unused } = await agentWith({
      'evals/words.jsonl':
        '{"prompt":"Count."}\n\n{"prompt":"Send.","contains":["a","b"],"matches":"^x","calls":"send","notCalls":["drop"]}\n',
      'evals/words/data.txt': 'to be',
    });
    expect(unused).toEqual([]);
    expect(evals).toMatchObject([
      {
        name: 'words',
        files: join(root, 'evals/words'),
        cases: [
          { line: 1, prompt: 'Count.', contains: [], matches: [], calls: [], notCalls: [] },
          {
            line: 3,
            prompt: 'Send.',
            contains: ['a', 'b'],
            matches: ['^x'],
            calls: ['send'],
            notCalls: ['drop'],
          },
        ],
      },
    ]);
  });

  it.each([
    ['{"prompt":"a"}\n{"prompt"', ':2 '],
    ['{"prompt":""}', ':1 case.prompt is invalid: it is "". Use a text'],
    ['{"contains":"a"}', ':1 case.prompt is invalid'],
    ['[]', ':1 case is invalid'],
    ['{"prompt":"a","contain":"b"}', ':1 it has an unknown field "contain". Known: prompt, contains'],
    ['{"prompt":"a","matches":"("}', ':1 case.matches[0] is invalid: it is "(". Use a regular expression'],
    ['{"prompt":"a","calls":[1]}', ':1 case.calls[0] is invalid'],
  ])('are broken if they are %j', async (text, message) => {
    expect(await broken({ 'evals/a.jsonl': text })).toEqual([
      expect.stringContaining(`evals/a.jsonl${message}`),
    ]);
  });

  it('have at most 1,000 cases in a file', async () => {
    const text = '{"prompt":"a"}\n'.repeat(1001);
    expect(await broken({ 'evals/a.jsonl': text })).toEqual([
      'evals/a.jsonl:1001 it has more than 1000 cases',
    ]);
  });
});

describe('channels of an agent', () => {
  it('are the settings of a Telegram bot, and modules that do not run yet', async () => {
    const { channels, unused } = await agentWith({
      'channels/telegram.json': '{ "token": "HELPER_TOKEN", "users": [4711, "4712"] }',
      'channels/slack.ts': "export default { name: 'slack' };",
      'channels/bad.ts': '\nthrow new Error("No.");',
      'channels/notes.txt': '',
    });
    expect(channels).toMatchObject([
      { kind: 'module', name: 'bad' },
      { kind: 'module', name: 'slack' },
      { kind: 'telegram', name: 'telegram', token: 'HELPER_TOKEN', users: ['4711', '4712'], admins: [] },
    ]);
    expect(unused).toMatchObject([{ path: 'channels/notes.txt', isBroken: false }]);
    const load = async (name: string) => {
      const channel = channels.find((one) => one.name === name);
      return channel?.kind === 'module' ? await channel.load() : undefined;
    };
    expect(await load('slack')).toEqual({ name: 'slack' });
    await expect(load('bad')).rejects.toMatchObject({
      ...{ code: 'agent_folder', message: `${root}/channels/bad.ts:2: No.` },
    });
  });

  it.each([
    [
      'a token instead of a name',
      '{ "token": "12345678:AAE-secret" }',
      'its token must be the name of an environment variable',
    ],
    ['JSON with a token that is broken', '{ "token": "12345678:AAE-secret"', ':1 it is not valid JSON'],
    ['the name of a user', '{ "users": ["@ada"] }', 'telegram.users[0] is invalid'],
    ['another setting', '{ "chats": [] }', 'it has an unknown field "chats". Known: token, users, admins'],
  ])('are broken with %s, and the error contains no token', async (_, text, message) => {
    const [line = ''] = await broken({ 'channels/telegram.json': text });
    expect(line).toContain(message);
    expect(line).not.toContain('secret');
  });
});

it('an agent has at most 100 schedules, and names that are ids', async () => {
  const text = '---\ncron: 0 9 * * *\n---\nReport.';
  const names = Array.from({ length: 101 }, (_, at) => `schedules/s${String(at).padStart(3, '0')}.md`);
  expect(await broken(Object.fromEntries(names.map((name) => [name, text])))).toEqual([
    'schedules/s100.md:undefined at most 100 schedules are possible',
  ]);
  expect(await broken({ 'schedules/a b.md': text })).toContainEqual(
    expect.stringContaining('schedules/a b.md:undefined its name can contain only'),
  );
});
