import { BudgetClient, memoryBudgets } from '@cobbler/agent/budgets';
import { describe, expect, test } from 'vitest';
import { RequestRate } from '../../src/auth/request-rate.ts';
import type { TokenInfo } from '../../src/index.ts';
import { TokenStore } from '../../src/index.ts';
import type { Problem } from '../../src/requests/problem.ts';
import type { Rig } from '../support/rig.ts';
import { rig, signedIn } from '../support/rig.ts';

const scopes = ['read', 'prompt', 'approve'] as const;
type Limits = Pick<TokenInfo, 'requestsPerMinute' | 'runningSessions' | 'budget'>;

/** A token of a user with limits. */
function limited({ tokens }: Pick<Rig, 'tokens'>, name: string, limits: Limits) {
  const { token, id } = tokens.add({ name, scopes, ...limits });
  return { token, id, headers: { authorization: `Bearer ${token}` } };
}

describe('the rate of a token [P15]', () => {
  /** Returns the seconds to wait before the next request; 0 if it is counted. */
  function counter(requestsPerMinute: number) {
    let now = 1_000_000;
    const rate = new RequestRate(() => now);
    const info = { id: 't', name: 'ann', scopes, createdAt: '', requestsPerMinute };
    return {
      pass: (ms: number) => {
        now += ms;
      },
      count: (more: Partial<TokenInfo> = {}): number => {
        try {
          rate.count({ ...info, ...more });
          return 0;
        } catch (problem) {
          return Number((problem as Problem).headers['retry-after']);
        }
      },
    };
  }

  test.each([1, 3, 7, 60, 997])('allows %i requests at once and as many in each minute', (rate) => {
    const { pass, count } = counter(rate);
    for (let minute = 0; minute < 3; minute += 1) {
      expect(Array.from({ length: rate }, () => count())).toEqual(Array(rate).fill(0));
      const seconds = count();
      expect(seconds).toBe(Math.ceil(60 / rate));
      pass(seconds * 1000);
      expect(count()).toBe(0);
      pass(120_000);
    }
  });

  test('counts each token separately, and those without a rate not at all', () => {
    const { count } = counter(1);
    expect([count(), count({ id: 'u' }), count(), count({ id: 'u' })]).toEqual([0, 0, 60, 60]);
    const { requestsPerMinute: _, ...free } = {
      requestsPerMinute: 1,
      id: 'v',
      name: 'v',
      scopes,
      createdAt: '',
    };
    const rate = new RequestRate(() => 0);
    for (let index = 0; index < 100; index += 1) rate.count(free);
  });

  test('makes no token wait longer than a minute when the clock is set back', () => {
    const { pass, count } = counter(2);
    expect([count(), count()]).toEqual([0, 0]);
    pass(-3_600_000);
    expect(count()).toBeLessThanOrEqual(30);
    pass(60_000);
    expect(count()).toBe(0);
  });

  test('counts requests that change something, and rejects more with 429', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const one = await rig({ tokens: new TokenStore(undefined, () => now) });
    const { token, headers } = limited(one, 'ann', { requestsPerMinute: 3 });
    expect((await one.ask('POST', '/v1/sessions', { id: 's' }, headers)).status).toBe(201);
    expect((await one.ask('PATCH', '/v1/sessions/other', { title: 'x' }, headers)).status).toBe(404);
    // The cookie of a page stands for the token.
    const { cookie, key } = await signedIn(one.ask, token);
    const page = { authorization: '', cookie, 'cobbler-page': key };
    expect((await one.ask('POST', '/v1/sessions/s/prompt', '{', page)).status).toBe(400);
    const refused = await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }, headers);
    expect(refused).toMatchObject({ status: 429, json: { code: 'rate', status: 429 } });
    expect(refused.headers.get('retry-after')).toBe('20');
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    for (let count = 0; count < 5; count += 1) {
      expect((await one.ask('GET', '/v1/sessions/s', undefined, headers)).status).toBe(200);
      expect((await one.ask('POST', '/v1/sessions/s/cancel', undefined, headers)).status).toBe(200);
    }
    const body = { model: 'cobbler', input: 'say Hi.' };
    expect((await one.ask('POST', '/openai/v1/responses', body, headers)).json).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate' },
    });
    expect((await one.ask('POST', '/v1/sessions', {}, limited(one, 'ann', {}).headers)).status).toBe(201);
    now += 20_000;
    expect((await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }, headers)).status).toBe(
      202,
    );
    expect((await one.ask('POST', '/v1/sessions/s/fork', undefined, headers)).status).toBe(429);
  });
});

describe('the running sessions of a user [P15]', () => {
  const prompt = ({ ask }: Rig, id: string, headers: Record<string, string>, content = 'hang') =>
    ask('POST', `/v1/sessions/${id}/prompt`, { content }, headers);

  test('are limited, and a session that ends makes room', async () => {
    const one = await rig();
    const { headers } = limited(one, 'ann', { runningSessions: 2 });
    for (const id of ['a', 'b', 'c']) await one.ask('POST', '/v1/sessions', { id }, headers);
    expect([(await prompt(one, 'a', headers)).status, (await prompt(one, 'b', headers)).status]).toEqual([
      202, 202,
    ]);
    const refused = await prompt(one, 'c', headers);
    expect(refused).toMatchObject({ status: 429, json: { code: 'running_sessions' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    // A session that runs is busy, whatever the limit.
    expect((await prompt(one, 'a', headers)).json['code']).toBe('busy');
    expect((await prompt(one, 'c', limited(one, 'bob', { runningSessions: 1 }).headers)).status).toBe(404);
    await one.ask('POST', '/v1/sessions/a/cancel', undefined, headers);
    expect((await prompt(one, 'c', headers)).status).toBe(202);
  });

  test('count for the user, whatever token has started them, and not for others', async () => {
    const one = await rig();
    const [laptop, phone] = [limited(one, 'ann', {}), limited(one, 'ann', { runningSessions: 1 })];
    const bob = limited(one, 'bob', { runningSessions: 1 });
    for (const id of ['a', 'b']) await one.ask('POST', '/v1/sessions', { id }, laptop.headers);
    await one.ask('POST', '/v1/sessions', { id: 'c' }, bob.headers);
    expect((await prompt(one, 'a', laptop.headers)).status).toBe(202);
    expect((await prompt(one, 'b', phone.headers)).status).toBe(429);
    expect((await prompt(one, 'c', bob.headers)).status).toBe(202);
    expect((await prompt(one, 'b', laptop.headers)).status).toBe(202);
  });

  test('cannot be exceeded by prompts at the same time', async () => {
    const one = await rig();
    const { headers } = limited(one, 'ann', { runningSessions: 2 });
    const ids = Array.from({ length: 8 }, (_, index) => `s${index}`);
    for (const id of ids) await one.ask('POST', '/v1/sessions', { id }, headers);
    const answers = await Promise.all(ids.map((id) => prompt(one, id, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 429, 429, 429, 429, 429, 429]);
  });

  test('count for the user who prompted, whatever is requested meanwhile', async () => {
    const [arrived, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const store = memoryBudgets();
    await store.define({ name: 'bob', limits: {} });
    const define = store.define.bind(store);
    store.define = async (definition) => {
      arrived.resolve();
      await goOn.promise;
      await define(definition);
    };
    const one = await rig({ budgets: { store, client: new BudgetClient({ store }) } });
    const [ann, bob] = [limited(one, 'ann', {}), limited(one, 'bob', { runningSessions: 1, budget: 'bob' })];
    for (const id of ['a', 'b'])
      await one.ask('POST', '/v1/sessions', { id }, (id === 'a' ? ann : bob).headers);
    await prompt(one, 'a', ann.headers, 'say Hi.');
    await one.idle('a');
    await one.ask('PATCH', '/v1/sessions/a', { share: { with: 'bob', may: 'use' } }, ann.headers);
    const prompted = prompt(one, 'a', bob.headers);
    await arrived.promise;
    // A run that continues would count for the owner of the session, but this one has ended.
    await one.ask('POST', '/v1/sessions/a/resume', undefined, bob.headers);
    goOn.resolve();
    expect((await prompted).status).toBe(202);
    expect((await prompt(one, 'b', bob.headers)).json['code']).toBe('running_sessions');
    await one.ask('POST', '/v1/sessions/a/cancel', undefined, bob.headers);
    expect((await prompt(one, 'b', bob.headers)).status).toBe(202);
  });

  test('also limit runs that an approval continues, except for approvers', async () => {
    const one = await rig();
    const { headers } = limited(one, 'ann', { runningSessions: 1 });
    const bob = limited(one, 'bob', { runningSessions: 1 });
    for (const id of ['a', 'b']) {
      await one.ask('POST', '/v1/sessions', { id }, headers);
      await prompt(one, id, headers, 'use write');
      await one.idle(id);
    }
    await one.ask('POST', '/v1/sessions', { id: 'c' }, headers);
    expect((await prompt(one, 'c', headers)).status).toBe(202);
    const items = (await one.ask('GET', '/v1/approvals')).json['items'] as Record<string, string>[];
    const answer = (index: number, as: Record<string, string>) => {
      const { sessionId, approvalId } = items[index] ?? {};
      return one.ask('POST', `/v1/sessions/${sessionId}/approvals/${approvalId}`, { decision: 'deny' }, as);
    };
    expect(await answer(0, headers)).toMatchObject({ status: 429, json: { code: 'running_sessions' } });
    const resume = await one.ask('POST', '/v1/sessions/a/resume', undefined, headers);
    expect(resume.json['code']).toBe('running_sessions');
    for (const id of ['a', 'b'])
      await one.ask('PATCH', `/v1/sessions/${id}`, { share: { with: 'bob', may: 'approve' } });
    expect((await answer(0, bob.headers)).status).toBe(202);
    expect((await answer(1, bob.headers)).status).toBe(202);
  });
});

test('the limits of a token survive a restart, and cannot be invalid', async () => {
  let text: string | undefined;
  const file = {
    read: () => text,
    write: (written: string) => {
      text = written;
    },
  };
  const limits = { requestsPerMinute: 30, runningSessions: 2 };
  const { token } = new TokenStore(file).add({ name: 'ann', scopes, ...limits });
  expect(new TokenStore(file).find(token)).toMatchObject(limits);
  for (const value of [0, -1, 1.5, Number.NaN, '5'])
    for (const name of ['requestsPerMinute', 'runningSessions']) {
      const wanted = { name: 'ann', scopes, [name]: value };
      expect(() => new TokenStore().add(wanted)).toThrow(`wanted.${name} is invalid`);
      expect((await (await rig()).ask('POST', '/v1/tokens', wanted)).status).toBe(400);
    }
});
