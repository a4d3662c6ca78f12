import { describe, expect, it } from 'vitest';
import { summarize } from '../../src/context/summary.ts';
import type { Event, RunEvent } from '../../src/events/event.ts';
import type { HarnessHandler } from '../../src/harness/handler.ts';
import type { HarnessOptions } from '../../src/harness/harness.ts';
import { createHarness } from '../../src/harness/harness.ts';
import type { Run } from '../../src/run/run.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { calls, noResponse, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import type { AgentError } from '../../src/values/errors.ts';
import { textOf } from '../../src/values/message.ts';

const { tool } = probeTools();

function harness(options: HarnessOptions) {
  return createHarness({ runtime: fakeRuntime(), ...options });
}

async function begun(run: Run): Promise<void> {
  for await (const event of run) if (event.type === 'user') return;
}

describe('queued prompts [S4.6]', () => {
  it('run one after another, in the order in which they arrive', async () => {
    const agent = scriptedModel([textResponse('One.'), textResponse('Two.'), textResponse('Three.')]);
    const one = harness({ agent, whenBusy: 'queue' });
    const runs = ['first', 'second', 'third'].map((prompt) => one.prompt(prompt));
    const results = await Promise.all(runs.map((run) => run.result));
    expect(results.map(({ text }) => text)).toEqual(['One.', 'Two.', 'Three.']);
    expect(results.map(({ runId }) => runId)).toEqual(runs.map(({ id }) => id));
    expect(results[2]?.messages.map(textOf)).toEqual(['first', 'One.', 'second', 'Two.', 'third', 'Three.']);
  });

  it('show their events to readers from the start', async () => {
    const one = harness({
      agent: scriptedModel([textResponse('One.'), textResponse('Two.')]),
      whenBusy: 'queue',
    });
    one.prompt('first');
    const events: RunEvent[] = [];
    for await (const event of one.prompt('second')) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['started', 'user', 'status', 'assistant', 'finished']);
  });

  it('can be removed from the queue by cancel, by their signal and by close', async () => {
    const store = memoryStore();
    const one = harness({
      agent: scriptedModel([noResponse(), textResponse('Last.')]),
      whenBusy: 'queue',
      store,
      sessionId: 's',
    });
    const stop = new AbortController();
    const first = one.prompt('first');
    const [second, third] = [one.prompt('second'), one.prompt('third', { signal: stop.signal })];
    const fourth = one.prompt('fourth', { signal: AbortSignal.abort() });
    const fifth = one.prompt('fifth');
    expect([second.cancel(), second.cancel()]).toEqual([true, false]);
    stop.abort();
    const dropped = await Promise.all([second.result, third.result, fourth.result]);
    expect(dropped.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    await begun(first);
    await one.close();
    expect((await fifth.result).error?.code).toBe('closed');
    const said = (store.read('s') as Event[]).filter(({ type }) => type === 'user');
    expect(said).toHaveLength(1);
  });

  it('a signal that is aborted later still cancels the started run', async () => {
    const one = harness({ agent: scriptedModel([textResponse('One.'), noResponse()]), whenBusy: 'queue' });
    const stop = new AbortController();
    one.prompt('first');
    const second = one.prompt('second', { signal: stop.signal });
    await begun(second);
    stop.abort();
    expect((await second.result).status).toBe('cancelled');
  });
});

describe('a handler that calls its harness', () => {
  it('can cancel during the very first event', async () => {
    const agent = scriptedModel([textResponse('Never asked.')]);
    const one = harness({
      agent,
      handler: { onEvent: (event) => event.type === 'started' && one.cancel() },
    });
    expect((await one.prompt('Go.').result).status).toBe('cancelled');
    expect(agent.requests).toHaveLength(0);
  });

  it('cannot prompt during a run, but can at its end', async () => {
    const later: Run[] = [];
    const moments = ['started', 'finished'];
    const handler: HarnessHandler = {
      onEvent(event) {
        if (event.type !== moments[0]) return;
        moments.shift();
        later.push(one.prompt('again'));
      },
    };
    const one = harness({ agent: scriptedModel([textResponse('One.'), textResponse('Two.')]), handler });
    await one.prompt('Go.').result;
    const results = await Promise.all(later.map((run) => run.result));
    expect(results.map(({ status, error }) => error?.code ?? status)).toEqual(['busy', 'complete']);
  });

  it('receives a block once, whether or not the agent reports it early [S4.9]', async () => {
    const heard: string[] = [];
    const agent = scriptedModel([
      (_request, { emit }) => {
        emit?.({ type: 'text', index: 0, text: 'Half of it.' });
        emit?.({ type: 'retry', attempt: 1, delayMs: 1, error: { kind: 'network', message: 'cut' } });
        emit?.({ type: 'text', index: 0, text: 'All of it.' });
        return calls(['one'], {});
      },
      textResponse('Done.'),
    ]);
    const handler: HarnessHandler = {
      onText: (text) => heard.push(text),
      onToolCall: (id, name) => heard.push(`${id} ${name}`),
      onEvent: (event) => event.type === 'retry' && heard.push('retry'),
    };
    await harness({ agent, tools: [tool('one')], handler }).prompt('Go.').result;
    expect(heard).toEqual(['Half of it.', 'retry', 'All of it.', 'call-1 one', 'Done.']);
  });

  it('whose promise rejects is reported once, by default to its own onStatus', async () => {
    const heard: string[] = [];
    const handler = {
      onText: () => Promise.reject(new Error('no disk')),
      onStatus: (state: string, message?: string) => state === 'error' && heard.push(message ?? ''),
    };
    const agent = scriptedModel([textResponse('One.'), textResponse('Two.')]);
    const one = harness({ agent, handler });
    await one.prompt('Go.').result;
    await one.prompt('Go.').result;
    expect(heard).toEqual(['onText threw: no disk']);
  });

  it('that throws while it receives a report does not affect the run', async () => {
    const fault = () => {
      throw new Error('broken');
    };
    const reported: AgentError[] = [];
    const report = (error: AgentError) => {
      reported.push(error);
      fault();
    };
    const one = harness({
      agent: scriptedModel([textResponse('One.')]),
      handler: { onStatus: fault, onUser: fault },
      report,
    });
    expect((await one.prompt('Go.').result).status).toBe('complete');
    expect(reported.map(({ kind, code }) => [kind, code])).toEqual([['invalid', 'handler']]);
  });
});

describe('a stored conversation', () => {
  it('can be continued by another harness', async () => {
    const shared = { store: memoryStore(), sessionId: 'shared', runtime: fakeRuntime() };
    const first = harness({ agent: scriptedModel([textResponse('One.')]), ...shared });
    await first.prompt('first').result;
    const second = harness({ agent: scriptedModel([textResponse('Two.')]), ...shared });
    const { messages } = await second.prompt('second').result;
    expect(messages.map(textOf)).toEqual(['first', 'One.', 'second', 'Two.']);
  });

  it('fails the run if its store fails, and the harness accepts the next prompt', async () => {
    let fails = true;
    const kept = memoryStore();
    const store: Store = {
      ...kept,
      append(...given) {
        if (fails) throw new Error('disk full');
        return kept.append(...given);
      },
    };
    const one = harness({ agent: scriptedModel([textResponse('One.')]), store });
    expect((await one.prompt('first').result).error?.code).toBe('store');
    fails = false;
    expect((await one.prompt('second').result).text).toBe('One.');
  });

  it('withdraws open approvals in a fork, so that one decision cannot count twice', async () => {
    const { tool: made, names } = probeTools();
    const store = memoryStore();
    const gate = () => ({ type: 'ask' }) as const;
    const agent = scriptedModel([calls(['write']), textResponse('Denied.'), textResponse('Allowed.')]);
    const one = harness({ agent, tools: [made('write')], gate, store, sessionId: 'one' });
    await one.prompt('Go.').result;
    const asked = (store.read('one') as Event[]).find((event) => event.type === 'approval_requested');
    const fork = await one.fork();
    const answers = [{ approvalId: asked?.approvalId ?? '', decision: 'allow' as const }];
    await fork.resume({ answers }).result;
    expect(names).toEqual([]);
    await one.resume({ answers }).result;
    expect(names).toEqual(['write']);
    const ids = (store.read(fork.sessionId) as Event[]).map(({ id }) => id);
    expect(ids[0]).toBe(`${fork.sessionId}-1`);
  });
});

describe('a compaction that the caller asks for', () => {
  it('is a run that only shortens the conversation, and is refused while calls wait', async () => {
    const agent = scriptedModel([
      textResponse('One.'),
      calls(['ask']),
      textResponse('Two.'),
      textResponse('Notes.'),
      textResponse('Three.'),
    ]);
    const gate = () => ({ type: 'ask' }) as const;
    const one = harness({ agent, tools: [tool('ask')], gate, context: { compact: summarize() } });
    await one.prompt('first').result;
    const { approvals = [] } = await one.prompt('second').result;
    const compact = { keep: 'the names' };
    expect((await one.resume({ compact }).result).error?.code).toBe('open_calls');
    await one.resume({ answers: approvals.map(({ approvalId }) => ({ approvalId, decision: 'deny' })) })
      .result;
    const result = await one.resume({ compact }).result;
    expect(result).toMatchObject({ status: 'complete', text: 'Two.' });
    expect(agent.requests).toHaveLength(4);
    expect(agent.requests[3]?.system).toContain('keep: the names');
    expect((await one.prompt('third').result).messages[0]).toMatchObject({
      content: [{ text: expect.stringMatching(/Notes\.$/) }],
    });
  });
});
