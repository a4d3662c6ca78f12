import { describe, expect, it } from 'vitest';
import type { Env } from '../src/env.ts';
import { settingsOf } from '../src/settings.ts';

const well: Omit<Env, 'DB' | 'TURNS'> = {
  TELEGRAM_BOT_TOKEN: '123456:abc',
  TELEGRAM_WEBHOOK_SECRET: 'secret_1',
  ANTHROPIC_API_KEY: 'key',
  TELEGRAM_ALLOWED_USERS: '1001, 1002\n1003',
};

/** Returns the settings for these environment variables. */
function settings(texts: Partial<Env> = {}) {
  return settingsOf({ ...well, ...texts } as Env);
}

describe('the worker settings', () => {
  it('identify users by their numeric ids [S3.1]', () => {
    expect([...settings().allowed]).toEqual(['1001', '1002', '1003']);
    expect(() => settings({ TELEGRAM_ALLOWED_USERS: '1001,@ada' })).toThrow('"@ada", which is not a user id');
  });

  it('allow no user if the list is empty', () => {
    expect(settings({ TELEGRAM_ALLOWED_USERS: '' }).allowed.size).toBe(0);
  });

  it('name a missing secret and the command that sets it', () => {
    for (const name of ['TELEGRAM_BOT_TOKEN', 'TELEGRAM_WEBHOOK_SECRET', 'ANTHROPIC_API_KEY'] as const)
      expect(() => settings({ [name]: ' ' })).toThrow(`wrangler secret put ${name}`);
  });

  it('reject a secret that Telegram does not accept, and an invalid time zone', () => {
    expect(() => settings({ TELEGRAM_WEBHOOK_SECRET: 'a b' })).toThrow('letters, digits, "_" and "-"');
    expect(() => settings({ TIME_ZONE: 'Nowhere/At_all' })).toThrow('not a time zone');
  });

  it('read the budget of each user, and name what is wrong with it', () => {
    expect(settings().userBudget).toBeUndefined();
    const budget = { per: 'day', limits: { usd: 0.5 }, alerts: [80] };
    expect(settings({ USER_BUDGET: JSON.stringify(budget) }).userBudget).toEqual(budget);
    for (const wrong of ['0.5', '{"per":"week","limits":{}}', '{"per":"day"}', '{"limits":{"usd":-1}}', '{'])
      expect(() => settings({ USER_BUDGET: wrong })).toThrow('USER_BUDGET is invalid: ');
  });

  it('use UTC if no time zone is set', () => {
    expect(settings().timeZone).toBe('UTC');
    expect(settings({ TIME_ZONE: 'Europe/Berlin' }).timeZone).toBe('Europe/Berlin');
  });
});
