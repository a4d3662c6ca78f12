import { failsWith } from '@cobbler/agent/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deployed } from '../src/deployed.ts';
import { people, says, secret, Town, textsOf } from '../src/town.ts';

const town = new Town();
let nextPerson = 0;
let person = 0;

beforeAll(async () => {
  const { script, said } = await deployed('production');
  process.stdout.write(`${/Total Upload.*/.exec(said)?.[0] ?? 'The output contains no size.'}\n`);
  await town.begin({ script });
});
afterAll(() => town.end());
beforeEach(() => {
  person = people[nextPerson] ?? 0;
  nextPerson += 1;
  town.brain = () => says('Yes.');
});

const url = 'http://worker.invalid';
const update = JSON.stringify({ update_id: 1 });
const headers = { 'x-telegram-bot-api-secret-token': secret };

describe('the routes of the worker', () => {
  it('return a line of text at the root and 404 everywhere else', async () => {
    const front = await town.workerd.fetch(`${url}/`);
    expect([front.status, await front.text()]).toEqual([200, 'This is a chat assistant.\n']);
    for (const door of ['GET /telegram', 'POST /', 'GET /runs', 'PUT /telegram']) {
      const [method = '', path] = door.split(' ');
      expect((await town.workerd.fetch(`${url}${path}`, { method })).status, door).toBe(404);
    }
  });

  it('reject a wrong or missing secret with 401', async () => {
    for (const wrong of [{}, { 'x-telegram-bot-api-secret-token': `${secret}x` }]) {
      const answer = await town.workerd.fetch(`${url}/telegram`, {
        method: 'POST',
        headers: wrong,
        body: update,
      });
      expect(answer.status).toBe(401);
    }
  });

  it('reject a body that is too large or not JSON, and ignore one that is not an update', async () => {
    const post = (body: string) => town.workerd.fetch(`${url}/telegram`, { method: 'POST', headers, body });
    expect((await post(`{"x":"${'x'.repeat(1_048_576)}"}`)).status).toBe(413);
    expect((await post('{')).status).toBe(400);
    expect((await post('{}')).status).toBe(200);
  });
});

describe('a turn on Workflows', () => {
  it('answers an allowed user and saves both messages [S3.1, S3.5]', async () => {
    town.brain = () => says('Hello to **you**.');
    expect(await town.ask(person, 'Hello.')).toBe('Hello to you.');
    await town.quiet();
    expect(await town.sql(`SELECT role, content FROM messages WHERE chat_id = '${person}'`)).toEqual([
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hello to **you**.' },
    ]);
  });

  it('uses claude-haiku-4-5 and sends it the time in the configured zone [S3.8, S3.9]', async () => {
    await town.ask(person, 'Hello.');
    const { request } = town.claude.exchanges.at(-1) ?? {};
    expect(request?.model).toBe('claude-haiku-4-5');
    expect(request?.system).toContain('No tools are currently available.');
    expect(request?.system).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00 \(\w+day, Europe\/Berlin\)/);
  });

  it('is not started by an unauthorized user, who gets 200 [S3.3]', async () => {
    const asked = town.claude.exchanges.length;
    expect((await town.say(666, 'Let me in.')).map(({ status }) => status)).toEqual([200]);
    await town.quiet();
    expect(town.telegram.replies(666)).toEqual([]);
    expect(town.claude.exchanges.length).toBe(asked);
    expect(await town.sql("SELECT id FROM messages WHERE chat_id = '666'")).toEqual([]);
  });

  it('sends the model the last 20 of 25 messages [S3.11]', async () => {
    const rows = Array.from({ length: 24 }, (_, index) => {
      const role = index % 2 === 0 ? 'user' : 'assistant';
      return `('m${person}-${index}', '${person}', '${role}', 'Message ${index + 1}.', '2026-11-22T09:00:00.000Z')`;
    });
    await town.sql(`INSERT INTO messages (id, chat_id, role, content, created_at) VALUES ${rows.join(', ')}`);
    await town.ask(person, 'Message 25.');
    const { request } = town.claude.exchanges.at(-1) ?? {};
    const told = (request === undefined ? [] : textsOf(request)).join(' ').match(/Message \d+\./g);
    expect(told).toEqual(Array.from({ length: 20 }, (_, index) => `Message ${index + 6}.`));
  });

  it('sends a friendly error if the model fails permanently, and saves the message [S3.4]', async () => {
    // A transient failure would be retried for minutes.
    town.brain = () => failsWith({ kind: 'invalid', message: 'broken inside' });
    const reply = await town.ask(person, 'Hello.');
    expect(reply).toContain('went wrong');
    expect(reply).not.toContain('broken inside');
    await town.quiet();
    const saved = await town.sql(`SELECT role, content FROM messages WHERE chat_id = '${person}'`);
    expect(saved).toEqual([{ role: 'user', content: 'Hello.' }]);
  });

  it('names the time at which the next period starts if the budget of the user is reached', async () => {
    await town.ask(person, 'Hello.');
    await town.quiet();
    const [balance] = await town.sql(
      `SELECT requests, usd FROM balances WHERE budget = 'assistant:user:${person}'`,
    );
    expect(balance).toMatchObject({ requests: 1, usd: expect.any(Number) });
    expect(Number(balance?.['usd'])).toBeGreaterThan(0);
    await town.sql(`UPDATE balances SET requests = 20 WHERE budget = 'assistant:user:${person}'`);
    const asked = town.claude.exchanges.length;
    const reply = await town.ask(person, 'Hello again.');
    expect(reply).toMatch(/^Sorry, the budget for my answers is used up\. .*00:00/);
    expect(town.claude.exchanges.length).toBe(asked);
    await town.quiet();
    expect(await town.sql('SELECT id FROM holds')).toEqual([]);
  });

  it('runs once and sends one reply if the same update arrives five times [S3.2]', async () => {
    const asked = town.claude.exchanges.length;
    const same = town.telegram.say(person, 'Hello.');
    const statuses: (number | undefined)[] = [];
    for (let time = 0; time < 5; time += 1)
      statuses.push(...(await town.again(same)).map(({ status }) => status));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    await town.replies(person, 1);
    await town.quiet();
    await town.again(same);
    await town.quiet();
    expect(town.telegram.replies(person)).toEqual(['Yes.']);
    expect(town.claude.exchanges.length).toBe(asked + 1);
  });

  it('answers two quick messages in order; the second request contains the first response', async () => {
    const slow = Promise.withResolvers<void>();
    const known: string[][] = [];
    town.brain = async (request) => {
      known.push(textsOf(request));
      if (known.length > 1) return says('Second.');
      await slow.promise;
      return says('First.');
    };
    town.telegram.say(person, 'One?');
    town.telegram.say(person, 'Two?');
    await town.telegram.deliver();
    setTimeout(() => slow.resolve(), 300);
    expect(await town.replies(person, 2)).toEqual(['First.', 'Second.']);
    expect(known).toEqual([['One?'], ['One?', 'First.', 'Two?']]);
  });

  it('does not delay commands, and /cancel stops it', async () => {
    const never = Promise.withResolvers<never>();
    let asked = 0;
    town.brain = () => {
      asked += 1;
      return asked === 1 ? never.promise : says('Here.');
    };
    await town.say(person, 'Think long.');
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(1);
    expect(await town.ask(person, '/help')).toContain('/cancel');
    expect(await town.ask(person, '/cancel')).toBe('Stopped.');
    expect(await town.ask(person, 'Are you there?')).toBe('Here.');
  });

  it('ends if the user has blocked the bot, and the next message gets a reply', async () => {
    // The reply, and the notice that it could not be delivered.
    town.telegram.fail('sendMessage', { type: 'blocked' }, 2);
    await town.say(person, 'Hello.');
    await town.quiet();
    expect(town.telegram.replies(person)).toEqual([]);
    await town.say(person, 'Back again.');
    expect(await town.replies(person, 2)).toEqual([expect.stringContaining('could not deliver'), 'Yes.']);
  });
});

describe('after an engine crash', () => {
  it('a turn continues its model request, with one reply and one saved user message [S3.5]', async () => {
    const never = Promise.withResolvers<never>();
    let asked = 0;
    town.brain = () => {
      asked += 1;
      return asked === 1 ? never.promise : says('After all.');
    };
    await town.say(person, 'Hello.');
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(1);
    await town.restart();
    expect(await town.replies(person, 1)).toEqual(['After all.']);
    await town.quiet();
    expect(town.telegram.replies(person)).toEqual(['After all.']);
    const saved = await town.sql(`SELECT role FROM messages WHERE chat_id = '${person}'`);
    expect(saved).toEqual([{ role: 'user' }, { role: 'assistant' }]);
  });

  it('a repeated reply is marked as a possible duplicate [S3.5]', async () => {
    town.telegram.fail('sendMessage', { type: 'mute' });
    await town.say(person, 'Hello.');
    await town.replies(person, 1);
    await town.restart();
    expect(await town.replies(person, 2)).toEqual(['Yes.', 'This may be a duplicate.\n\nYes.']);
    await town.quiet();
    const pieces = await town.sql(`SELECT state, doubts FROM outbox WHERE chat_id = '${person}'`);
    expect(pieces).toEqual([{ state: 'sent', doubts: 1 }]);
  });

  it('the timer deletes old data and checks the webhook', async () => {
    await town.ask(person, 'Hello.');
    await town.quiet();
    await town.sql(
      'UPDATE runs SET updated_at = 1',
      'UPDATE outbox SET updated_at = 1',
      'UPDATE sessions SET updated_at = 1',
    );
    await town.workerd.scheduled('*/15 * * * *');
    for (const table of ['runs', 'run_values', 'outbox', 'sessions', 'events'])
      expect(await town.sql(`SELECT count(*) AS count FROM ${table}`)).toEqual([{ count: 0 }]);
    expect(town.telegram.calls.map(({ method }) => method)).toContain('getWebhookInfo');
  });
});
