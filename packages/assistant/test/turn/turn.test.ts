import { defineTool, systemRuntime } from '@cobbler/agent';
import type { Runner, StepSettings, Steps } from '@cobbler/agent/runner';
import { memoryRunner } from '@cobbler/agent/runner';
import type { ScriptStep } from '@cobbler/agent/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tooSlow } from '../../src/turn/messages.ts';
import { defaultPersona } from '../../src/turn/system-prompt.ts';
import { eventually, stage } from '../support/stage.ts';

const textOf = (message: { readonly content: readonly { readonly type: string }[] }): string =>
  message.content.map((part) => ('text' in part ? String(part.text) : '')).join('');

const calls = (name: string, args: Record<string, unknown> = {}): ScriptStep => ({
  calls: [{ name, arguments: args }],
});

describe('a turn', () => {
  it('sends the answer and saves both messages, each with a nanoid [S3.5, S3.10]', async () => {
    const { ask, texts, options } = stage(['Hello to you.']);
    expect(await ask('Hello.')).toEqual({ answered: true, delivered: 'sent' });
    expect(texts()).toEqual(['Hello to you.']);
    const saved = await options.messages.recent('7', 10);
    expect(saved).toMatchObject([
      { role: 'user', content: 'Hello.', createdAt: '2026-11-22T09:30:00.000Z' },
      { role: 'assistant', content: 'Hello to you.' },
    ]);
    for (const { id } of saved) expect(id).toMatch(/^[A-Za-z0-9_-]{21}$/);
  });

  it('saves the message, asks the model, sends the reply and saves it, in this order [S3.1]', async () => {
    const told: string[] = [];
    const { ask, options, channel } = stage([
      ({ messages }) => {
        told.push(`asked with ${messages.map(textOf)}`);
        return 'Hello to you.';
      },
    ]);
    const { add } = options.messages;
    const { send } = channel;
    vi.spyOn(options.messages, 'add').mockImplementation(async (message) => {
      told.push(`saved of the ${message.role}`);
      return await add(message);
    });
    vi.spyOn(channel, 'send').mockImplementation(async (...piece) => {
      told.push('sent');
      return await send(...piece);
    });
    await ask('Hello.');
    expect(told).toEqual(['saved of the user', 'asked with Hello.', 'sent', 'saved of the assistant']);
  });

  it('gives the model the last 20 messages, oldest first, including the new one [S3.11]', async () => {
    const { ask, agent, options } = stage(['Fine.']);
    for (let place = 1; place <= 24; place += 1) {
      const role = place % 2 === 1 ? 'user' : 'assistant';
      const createdAt = '2026-11-22T09:00:00.000Z';
      await options.messages.add({
        id: `m${place}`,
        chatId: '7',
        role,
        content: `Message ${place}.`,
        createdAt,
      });
    }
    await ask('Message 25.');
    const said = (agent.requests[0]?.messages ?? []).map(textOf);
    const wanted = Array.from({ length: 20 }, (_, index) => `Message ${index + 6}.`);
    // The oldest of the 20 is an assistant message, but providers require a user message first.
    expect(said).toEqual(['(Earlier messages are omitted.)', ...wanted]);
  });

  it("gives the model its persona, the tools, and the time in the user's time zone [S3.9]", async () => {
    const runtime = { ...systemRuntime, now: () => Date.UTC(2026, 10, 22, 9, 30) };
    const { ask, agent } = stage(['One.', 'Two.'], { runtime });
    await ask('Hello.');
    await ask('/timezone Asia/Kolkata');
    await ask('Again.');
    const systems = agent.requests.map(({ system }) => system);
    expect(systems[0]?.[0]).toBe(defaultPersona);
    expect(systems[0]?.[1]).toBe('No tools are currently available.');
    expect(systems[0]?.at(-1)).toBe('The current date and time is 2026-11-22T09:30:00+00:00 (Sunday, UTC).');
    expect(systems[1]?.at(-1)).toContain('2026-11-22T15:00:00+05:30 (Sunday, Asia/Kolkata)');
  });

  it('names the available tools [S3.9]', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks around.\nAnd tells.',
      parameters: { type: 'object' },
      execute: () => 'seen',
    });
    const { ask, agent } = stage(['One.'], { tools: [look], persona: 'You are Mori.' });
    await ask('Hello.');
    const [who, tools] = agent.requests[0]?.system ?? [];
    expect([who, tools]).toEqual(['You are Mori.', 'Available tools:\n- look: Looks around.']);
  });

  it('sends an apology if the model fails, and saves the user message but not the apology [S3.4]', async () => {
    const error = { kind: 'agent', message: 'status 500 from https://internal.example/v1' } as const;
    const { ask, texts, options, reports } = stage([{ error }]);
    expect(await ask('Hello.')).toEqual({ answered: false, delivered: 'sent' });
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('something went wrong');
    expect(texts()[0]).not.toContain('internal');
    expect(await options.messages.recent('7', 10)).toMatchObject([{ role: 'user', content: 'Hello.' }]);
    expect(reports.join()).toContain('status 500');
  });

  it('says that the model was too slow after a timeout [S3.4]', async () => {
    const { ask, texts } = stage([{ error: { kind: 'timeout', message: 'No response in time.' } }]);
    await ask('Hello.');
    expect(texts()).toEqual([tooSlow]);
  });

  it('retries its first and last steps after a failure, with a time limit [S3.2]', async () => {
    const settings = new Map<string, StepSettings | undefined>();
    const recorded = (steps: Steps): Steps => ({
      runId: steps.runId,
      signal: steps.signal,
      checkpoint: () => steps.checkpoint(),
      waitFor: (name, options) => steps.waitFor(name, options),
      run: (name, perform, given) => {
        settings.set(name, given);
        return steps.run(name, perform, given);
      },
    });
    const runner: Runner = memoryRunner({
      workflow: (input, steps) => assistant.workflow(input, recorded(steps)),
    });
    onTestFinished(() => runner.close());
    const { assistant, say } = stage(['Hello to you.'], { runner: () => runner });
    await runner.result(await say('Hello.'));
    const around = { retry: { retries: 5, firstMs: 500 }, timeoutMs: 60_000 };
    expect([settings.get('admit'), settings.get('finish')]).toEqual([around, around]);
    const acting = [...settings].filter(([name]) => !['admit', 'recall', 'finish'].includes(name));
    expect(acting.some(([, given]) => given?.timeoutMs === 600_000)).toBe(true);
  });

  it('does not use text from before a failure as the answer [S3.4]', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object' },
      effect: 'read',
      execute: () => 'seen',
    });
    const first = { text: 'Let me look.', calls: [{ name: 'look', arguments: {} }] };
    const { ask, texts } = stage([first, { error: { kind: 'rate_limit', message: 'slow down' } }], {
      tools: [look],
    });
    await ask('Hello.');
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('overloaded');
  });

  it('runs once if the same update arrives five times', async () => {
    const { say, runner, texts, agent } = stage(['Once.']);
    for (let time = 0; time < 5; time += 1) await say('Hello.', '99');
    await runner.result('memory-99');
    expect(texts()).toEqual(['Once.']);
    expect(agent.requests).toHaveLength(1);
  });

  it('answers two quick messages in order, and the second request contains the first answer', async () => {
    const slow = Promise.withResolvers<void>();
    const { say, runner, texts, agent } = stage([
      async () => {
        await slow.promise;
        return 'First.';
      },
      'Second.',
    ]);
    const runs = [await say('One?'), await say('Two?')];
    slow.resolve();
    for (const run of runs) await runner.result(run);
    expect(texts()).toEqual(['First.', 'Second.']);
    expect((agent.requests[1]?.messages ?? []).map(textOf)).toEqual(['One?', 'First.', 'Two?']);
  });

  it('sends a reply that is not empty if the response is empty', async () => {
    const { ask, texts } = stage([{ text: '' }]);
    await ask('Hello.');
    expect(texts()[0]).not.toBe('');
    expect(texts()).toHaveLength(1);
  });
});

describe('tools in a turn', () => {
  const counted = (effect: 'read' | 'once') => {
    const ran: string[] = [];
    const tool = defineTool({
      name: 'note',
      description: 'Notes something.',
      parameters: { type: 'object' },
      effect,
      subject: ({ text }) => String(text),
      execute: ({ text }) => {
        ran.push(String(text));
        return `noted ${String(text)}`;
      },
    });
    return { ran, tool };
  };

  it('are not called a sixth time, and the final answer is sent [S3.6]', async () => {
    const { ran, tool } = counted('read');
    const script = Array.from({ length: 6 }, (_, index) => calls('note', { text: index + 1 }));
    const { ask, texts, agent } = stage([...script, 'Five will do.'], { tools: [tool] });
    await ask('Note six things.');
    expect(ran).toEqual(['1', '2', '3', '4', '5']);
    expect(texts()).toEqual(['Five will do.']);
    expect(agent.requests.at(-1)?.config?.toolChoice).toBe('none');
  });

  it('with side effects require approval by a button, and run once if allowed', async () => {
    const { ran, tool } = counted('once');
    const { say, tap, texts, channel, runner } = stage([calls('note', { text: 'milk' }), 'Noted.'], {
      tools: [tool],
    });
    const run = await say('Note milk.');
    const question = await eventually(() => channel.messages[0]);
    expect(question.text).toContain('note');
    expect(question.buttons.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
    expect(ran).toEqual([]);
    const allow = question.buttons[0]?.data ?? '';
    await tap(allow);
    await tap(allow);
    await runner.result(run);
    expect(ran).toEqual(['milk']);
    expect(texts()).toEqual(['✓ Allow', 'Noted.']);
    expect(channel.messages[0]?.buttons).toEqual([]);
    expect(channel.taps.map(({ text }) => text)).toEqual(['✓ Allow', 'This question is no longer open.']);
  });

  it('do not run if denied, and the model is informed', async () => {
    const { ran, tool } = counted('once');
    const { say, tap, texts, channel, runner, agent } = stage(
      [calls('note', { text: 'milk' }), 'All right, not.'],
      { tools: [tool] },
    );
    const run = await say('Note milk.');
    const question = await eventually(() => channel.messages[0]);
    await tap(question.buttons[1]?.data ?? '');
    await runner.result(run);
    expect(ran).toEqual([]);
    expect(texts().at(-1)).toBe('All right, not.');
    expect(JSON.stringify(agent.requests[1]?.messages)).toContain('denied this call');
  });

  it('that await approval are stopped by /cancel, and the next message is answered', async () => {
    const { ran, tool } = counted('once');
    const { say, ask, texts, channel } = stage([calls('note', { text: 'milk' }), 'Here I am.'], {
      tools: [tool],
    });
    await say('Note milk.');
    await eventually(() => channel.messages[0]);
    await ask('/cancel');
    expect(texts().at(-1)).toBe('Stopped.');
    await ask('Are you there?');
    expect(texts().at(-1)).toBe('Here I am.');
    expect(ran).toEqual([]);
  });
});

describe('chat commands', () => {
  it('/new starts a conversation without the earlier messages', async () => {
    const { ask, agent } = stage(['One.', 'Two.']);
    await ask('First.');
    await ask('/new');
    await ask('Second.');
    expect((agent.requests[1]?.messages ?? []).map(textOf)).toEqual(['Second.']);
  });

  it('/forget asks for confirmation and then deletes all data of the chat', async () => {
    const { ask, tap, texts, options } = stage(['One.']);
    await ask('My name is Ada.');
    await ask('/forget');
    await tap('forget:no');
    expect(await options.messages.recent('7', 10)).toHaveLength(2);
    await ask('/forget');
    await tap('forget:yes');
    expect(texts().at(-1)).toContain('2 messages');
    expect(await options.messages.recent('7', 10)).toEqual([]);
    expect(await options.turns.sessions()).toEqual([]);
  });

  it('/export sends all messages as one file', async () => {
    const { ask, channel } = stage(['One.']);
    await ask('First.');
    await ask('/export');
    const lines = channel.messages.at(-1)?.file?.text.trim().split('\n') ?? [];
    expect(lines.map((line) => JSON.parse(line).content)).toEqual(['First.', 'One.']);
  });

  it('/again repeats the last answer; unknown commands and time zones are reported', async () => {
    const { ask, texts } = stage(['One.']);
    await ask('First.');
    await ask('/again');
    await ask('/dance');
    await ask('/timezone Nowhere/At_all');
    expect(texts().slice(0, 2)).toEqual(['One.', 'One.']);
    expect(texts()[2]).toContain('/dance');
    expect(texts()[3]).toContain('not a time zone');
  });

  it('a message to a chat with 1,000 that wait gets a reply, and does not start a turn [P29]', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { say, runner, texts, reports } = stage([() => promise], {
      rateLimit: { count: 1, perMs: 60_000 },
    });
    const first = await say('first');
    for (let count = 0; count < 1_000; count += 1) await say('more');
    const refused = await say('late');
    expect((await runner.status(refused)).state).toBe('unknown');
    await runner.result(`${refused}:full`);
    expect(texts()).toEqual([expect.stringContaining('Too many of your messages are waiting')]);
    expect(reports).toEqual([
      expect.stringContaining('the key "chat:7" has 1001 unfinished runs, the maximum'),
    ]);
    resolve('Done.');
    await runner.result(first);
    await runner.close();
  });

  it('too many messages get one polite refusal, not one each', async () => {
    const { ask, texts, agent } = stage(['One.', 'Two.'], { rateLimit: { count: 2, perMs: 60_000 } });
    for (const text of ['a', 'b', 'c', 'd', 'e']) await ask(text);
    expect(agent.requests).toHaveLength(2);
    expect(texts()).toHaveLength(3);
    expect(texts()[2]).toContain('too quickly');
  });
});
