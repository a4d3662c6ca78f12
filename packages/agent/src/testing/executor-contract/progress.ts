import type { ExecutorOptions } from '../../plan.ts';
import { expect, expectEqual } from '../assertion.ts';
import type { ExecutorCase } from './cases.ts';
import { group } from './cases.ts';
import { probes } from './probe.ts';
import type { PuppetStep } from './puppet.ts';
import { calls, puppet, says } from './puppet.ts';

const the = group('progress');

/** An agent that makes the same call for ever. */
function stubborn(turns = 9, last: PuppetStep = says('Done.')): PuppetStep[] {
  return [...Array.from({ length: turns }, () => calls([{ name: 'one', arguments: { path: 'a' } }])), last];
}

export const progressCases: readonly ExecutorCase[] = [
  the('P1 the same call with the same result three times in a row is the end', async (stage) => {
    const { tool, names } = probes();
    const result = await stage.play({ agent: puppet(stubborn()), tools: [tool('one')] });
    expectEqual([result.status, result.limit, names.length], ['limit', 'no_progress', 3], 'the end');
    expectEqual([result.error?.kind, result.error?.code], ['limit', 'no_progress'], 'the error');
    expect(result.error?.message.includes('same calls') === true, 'words that say why');
  }),
  the('with finalize one closing answer follows', async (stage) => {
    const agent = puppet(stubborn(3, says('I am stuck.')));
    const options: ExecutorOptions = { agent, tools: [probes().tool('one')], onLimit: 'finalize' };
    const result = await stage.play(options);
    expectEqual([result.limit, result.text], ['no_progress', 'I am stuck.'], 'the end');
    expectEqual(agent.requests[3]?.config?.toolChoice, 'none', 'the choice of tools');
  }),
  the('another argument, another result or another tool is progress', async (stage) => {
    const { tool } = probes();
    const { tool: counted, runs } = probes();
    const counting = counted('count', { execute: () => `${runs.length}` });
    const scripts: PuppetStep[][] = [
      Array.from({ length: 6 }, (_, n) => calls([{ name: 'one', arguments: { n } }])),
      Array.from({ length: 6 }, () => calls(['count'])),
      Array.from({ length: 6 }, (_, n) => calls(n % 3 === 0 ? ['one', 'two'] : ['one'])),
    ];
    for (const script of scripts) {
      const tools = [tool('one'), tool('two'), counting];
      const result = await stage.play({ agent: puppet([...script, says('Done.')]), tools });
      expectEqual(result.status, 'complete', 'the status');
    }
  }),
  the('a tool that may repeat itself does, and the limit can be set or lifted', async (stage) => {
    const { tool } = probes();
    const poll = [tool('one', { mayRepeat: true })];
    expectEqual(
      (await stage.play({ agent: puppet(stubborn(6)), tools: poll })).status,
      'complete',
      'polling',
    );
    const plain = [tool('one')];
    const lifted = await stage.play({ agent: puppet(stubborn(6)), tools: plain, limits: { repeats: 0 } });
    expectEqual(lifted.status, 'complete', 'the status without the limit');
    const five = puppet(stubborn());
    expectEqual(
      (await stage.play({ agent: five, tools: plain, limits: { repeats: 5 } })).limit,
      'no_progress',
      'five',
    );
    expectEqual(five.requests.length, 5, 'the requests');
  }),
  the('what somebody says in between begins a new count', async (stage) => {
    const { tool, runs } = probes();
    const agent = puppet(stubborn());
    const onEvent = (event: { type: string }) => {
      if (event.type === 'tool_started' && runs.length === 1)
        expect(run.steer('Try another file.'), 'an ear');
    };
    const run = stage.run({ agent, tools: [tool('one')] }, 'Go.', { onEvent });
    const result = await stage.until(run);
    expectEqual([result.limit, agent.requests.length], ['no_progress', 5], 'the end');
  }),
  the('a crash in between changes nothing: what the log holds is counted', async (stage) => {
    const { tool } = probes();
    const options = { tools: [tool('one', { effect: 'read' })] } as const;
    const stop = puppet([...stubborn(2, () => new Promise(() => {}))]);
    const first = stage.run({ ...options, agent: stop }, 'Go.', { sessionId: 'stubborn' });
    await stage.advance(1000);
    const agent = puppet(stubborn());
    const second = await stage.until(stage.resume({ ...options, agent }, 'stubborn'));
    expectEqual([second.limit, agent.requests.length], ['no_progress', 1], 'the end');
    first.cancel();
    await stage.until(first);
  }),
];
