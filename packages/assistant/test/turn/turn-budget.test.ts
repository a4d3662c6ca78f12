import { BudgetClient, memoryBudgets } from '@cobbler/agent/budgets';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { eventually, stage } from '../support/stage.ts';

/** Budgets in which each user has one request in a period. */
function budgets(per: 'day' | 'total') {
  const clock = fakeRuntime({ startedAt: Date.UTC(2026, 10, 22, 9, 30) });
  const store = memoryBudgets({ runtime: clock });
  const client = new BudgetClient({ store });
  const budget = async (userId: string) => {
    await store.define({ name: userId, per, timeZone: 'Europe/Berlin', limits: { requests: 1 } });
    return await client.budget(userId);
  };
  return { clock, store, budget };
}

describe('the budget of a user', () => {
  it('is answered with the time at which it continues, in the time zone of the user', async () => {
    const { budget, clock, store } = budgets('day');
    const { ask, texts, agent } = stage(['One.', 'Two.'], { budget, timeZone: 'Europe/Berlin' });
    expect(await ask('Hello.')).toEqual({ answered: true, delivered: 'sent' });
    expect(await ask('More.')).toEqual({ answered: false, delivered: 'sent' });
    const reply = 'Sorry, the budget for my answers is used up. Please send your message again after';
    expect(texts()).toEqual(['One.', `${reply} Monday 23 November at 00:00.`]);
    expect(agent.requests).toHaveLength(1);
    await clock.advance(16 * 3_600_000);
    expect(await ask('And now?')).toEqual({ answered: true, delivered: 'sent' });
    expect(await store.balances(['7'])).toMatchObject([{ settled: { requests: 1 }, period: '2026-11-23' }]);
  });

  it('asks an admin whether it continues, and refuses the answer of another user', async () => {
    const { budget, store } = budgets('day');
    const work = stage(['One.', 'Two.'], { budget, admins: ['7'] });
    await work.ask('Hello.');
    const run = await work.say('More.');
    const { buttons, text } = await eventually(() =>
      work.channel.messages.find((one) => one.buttons.length > 0),
    );
    expect(text).toContain('Budget "7" leaves too little for the next request: 1 of 1 request spent.');
    expect(buttons.map(({ label }) => label)).toEqual(['Continue with 1 request more', 'Stop']);
    const data = buttons[0]?.data ?? '';
    await work.assistant.receive({
      ...{ type: 'tap', id: 'other', chatId: '7', userId: '8', sentAt: 0, data, tapId: 'tap-other' },
    });
    await work.runner.result('memory-other');
    expect((await store.balances(['7']))[0]?.granted.requests).toBe(0);
    await work.tap(data);
    expect(await work.runner.result(run)).toEqual({ answered: true, delivered: 'sent' });
    expect(work.texts().at(-1)).toBe('Two.');
    expect((await store.balances(['7']))[0]?.granted.requests).toBe(1);
  });

  it('is answered without a time if it never starts again', async () => {
    const { ask, texts } = stage(['One.'], { budget: budgets('total').budget });
    await ask('Hello.');
    await ask('More.');
    expect(texts()[1]).toBe(
      'Sorry, the budget for my answers is used up. I cannot answer until my owner raises it.',
    );
  });
});
