import { describe, expect, it } from 'vitest';
import type { Event, RunEvent } from '../../src/events/event.ts';
import { emptyState, fold, openRequests } from '../../src/events/index.ts';
import type { ToolAnswer, ToolContext } from '../../src/interfaces/tool.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { fakeRuntime, scriptedAgent } from '../../src/testing/index.ts';

const question = { toolName: 'inner', arguments: { path: 'a' }, subject: 'a', summary: 'for helper' };

function askingTool(execute: (context: ToolContext) => unknown) {
  const parameters = { type: 'object' };
  return defineTool({
    name: 'outer',
    description: '',
    parameters,
    execute: (_: object, context) => execute(context),
  });
}

function folded(events: readonly Event[]) {
  const state = emptyState();
  for (const event of events) fold(state, event);
  return state;
}

function runWith(
  execute: (context: ToolContext) => unknown,
  onEvent: (event: RunEvent) => void,
  store = memoryStore(),
) {
  const agent = scriptedAgent([{ calls: [{ name: 'outer', arguments: {} }] }, 'Done.']);
  const executor = new Executor({ agent, tools: [askingTool(execute)], store, runtime: fakeRuntime() });
  return executor.run('Go.', { sessionId: 's1', onEvent });
}

describe('a tool that asks a user during its call', () => {
  it.each([
    ['allow', { decision: 'allow' }],
    ['deny', { decision: 'deny', message: 'A person denied this call.' }],
  ] as const)('gets the decision of the user: %s', async (decision, expected) => {
    const answers: (ToolAnswer | undefined)[] = [];
    const events: RunEvent[] = [];
    const run = runWith(
      async ({ ask, sessionId }) => {
        answers.push(await ask?.(question));
        return sessionId;
      },
      (event) => {
        events.push(event);
        if (event.type === 'approval_requested')
          queueMicrotask(() => run.decide(event.approvalId, { decision }));
      },
    );
    expect((await run.result).status).toBe('complete');
    expect(answers).toEqual([expected]);
    const [asked] = events.filter((event) => event.type === 'approval_requested');
    expect(asked).toMatchObject({ ...question, turn: 1, index: 0 });
    expect(events.find((event) => event.type === 'tool_result')).toMatchObject({ isError: false });
  });

  it('asks one question after another, and each gets its own decision', async () => {
    const asked: string[] = [];
    const answers: unknown[] = [];
    const run = runWith(
      async ({ ask }) => {
        const all = ['one', 'two'].map((toolName) => ask?.({ ...question, toolName }));
        answers.push(...(await Promise.all(all)).map((answer) => answer?.decision));
      },
      (event) => {
        if (event.type !== 'approval_requested') return;
        asked.push(event.toolName);
        const decision = event.toolName === 'one' ? 'deny' : 'allow';
        queueMicrotask(() => run.decide(event.approvalId, { decision }));
      },
    );
    await run.result;
    expect([asked, answers]).toEqual([
      ['one', 'two'],
      ['deny', 'allow'],
    ]);
  });

  it('is denied if the run is cancelled during the question, and no question stays open', async () => {
    const store = memoryStore();
    let answer: ToolAnswer | undefined;
    const run = runWith(
      async ({ ask }) => {
        answer = await ask?.(question);
      },
      (event) => {
        if (event.type === 'approval_requested') queueMicrotask(() => run.cancel());
      },
      store,
    );
    expect((await run.result).status).toBe('cancelled');
    expect(answer).toEqual({ decision: 'deny', message: 'No user could be asked.' });
    expect(openRequests(folded(await store.read('s1')))).toEqual([]);
  });

  it('is denied after its call', async () => {
    let late: ToolContext['ask'];
    const run = runWith(
      ({ ask }) => {
        late = ask;
      },
      () => undefined,
    );
    await run.result;
    expect(await late?.(question)).toEqual({ decision: 'deny', message: 'No user could be asked.' });
  });

  it('leaves no question open when its process dies and the session is resumed', async () => {
    const store = memoryStore();
    const copy = memoryStore();
    const copied = new Promise<void>((resolve) => {
      runWith(
        ({ ask }) => ask?.(question),
        (event) => {
          if (event.type === 'approval_requested') setImmediate(resolve);
        },
        store,
      );
    });
    await copied;
    const events = await store.read('s1');
    await copy.append('s1', events, { epoch: await copy.claim('s1') } as never);
    expect(openRequests(folded(events))).toHaveLength(1);
    const agent = scriptedAgent(['Done.']);
    const executor = new Executor({ agent, tools: [askingTool(() => 'rerun')], store: copy });
    const result = await executor.resume('s1').result;
    expect(result.status).toBe('complete');
    expect(JSON.stringify(result.messages)).toContain('unknown');
    expect(JSON.stringify(result.messages)).not.toContain('rerun');
  });
});

describe('tools that may run at the same time', () => {
  it.each([
    [2, 2],
    [1, 1],
    [undefined, 1],
  ])('run at most as many calls as their limit allows: %s', async (concurrency, expected) => {
    let [running, most] = [0, 0];
    const tool = defineTool({
      name: 'work',
      description: '',
      parameters: { type: 'object' },
      ...(concurrency !== undefined && { concurrency }),
      execute: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      },
    });
    const call = { name: 'work', arguments: {} };
    const agent = scriptedAgent([{ calls: [call, call, call] }, 'Done.']);
    const result = await new Executor({ agent, tools: [tool] }).run('Go.').result;
    expect([result.status, result.metrics.toolCalls, most]).toEqual(['complete', 3, expected]);
  });
});
