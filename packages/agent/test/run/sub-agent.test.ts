import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RunEvent } from '../../src/events/event.ts';
import { itemsOf } from '../../src/events/items.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import type { RunResult } from '../../src/run/run.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Message } from '../../src/values/message.ts';
import { textOf } from '../../src/values/message.ts';
import { maxNoteBytes, maxSteps } from '../../src/values/sizes.ts';

const probe = (effect: Tool['effect']) =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: {},
    ...(effect && { effect }),
    execute: (_args, { progress }) => {
      progress('half');
      return 'seen';
    },
  });

const named = { name: 'research', description: 'Answers a question.' } as const;
const call = calls([{ name: 'research', arguments: { prompt: 'Which glue?' } }]);

/** Runs a model that calls the tool once and then ends. */
async function parent(tool: Tool, options: Partial<ExecutorOptions> = {}) {
  const agent = scriptedModel([call, textResponse('Done.')]);
  const events: RunEvent[] = [];
  const executor = new Executor({ agent, tools: [tool], ...options });
  const result = await executor.run('Go.', { onEvent: (event) => events.push(event) });
  return { result, events, told: told(result), isError: isError(result.messages) };
}

function told({ messages }: RunResult): string {
  return messages.flatMap((message) => (message.role === 'tool_result' ? [textOf(message)] : [])).join();
}

function isError(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'tool_result' && message.isError === true);
}

function subAgent(script: readonly ModelStep[], options: Partial<ExecutorOptions> = {}) {
  const agent = scriptedModel(script);
  return { agent, executor: new Executor({ agent, ...options }) };
}

describe('the steps of a call', () => {
  const stepping = (count: number, text: string) =>
    defineTool({
      ...probe('read'),
      name: 'research',
      parameters: { prompt: z.string() },
      execute: (_args, { step }) => {
        for (let at = 0; at < count; at += 1) step?.({ text, called: `tool ${at}`, isError: at === 1 });
        return 'Bone glue.';
      },
    });

  it('are recorded in the log and shown with their call, but no model sees them', async () => {
    const { events, result } = await parent(stepping(2, 'glues.md'));
    const view = itemsOf(events);
    const [call] = view.items.flatMap((item) => (item.kind === 'response' ? item.calls : []));
    expect(call?.steps).toMatchObject([
      { seq: 4, callId: call?.part.id, toolName: 'research', text: 'glues.md', called: 'tool 0' },
      { seq: 5, text: 'glues.md', called: 'tool 1', isError: true },
    ]);
    expect(JSON.stringify(result.messages)).not.toContain('glues.md');
  });

  it('are limited in number and length', async () => {
    const { events } = await parent(stepping(maxSteps + 3, 'x'.repeat(5_000)));
    const steps = events.filter((event) => event.type === 'step');
    expect(steps).toHaveLength(maxSteps);
    for (const { text } of steps) expect(text.length).toBeLessThanOrEqual(maxNoteBytes);
  });
});

describe('an executor as a tool', () => {
  it('gives its response to the model, and sees only its prompt', async () => {
    const { agent, executor } = subAgent([textResponse('Bone glue.')]);
    const { told, isError } = await parent(executor.asTool(named));
    expect([told, isError]).toEqual(['Bone glue.', false]);
    expect(agent.requests[0]?.messages.map(textOf)).toEqual(['Which glue?']);
  });

  it('starts each call with an empty conversation', async () => {
    const { agent, executor } = subAgent([textResponse('One.'), textResponse('Two.')]);
    const tool = executor.asTool(named);
    await parent(tool);
    await parent(tool);
    expect(agent.requests.map(({ messages }) => messages.length)).toEqual([1, 1]);
  });

  it('gives its output as JSON', async () => {
    const schema = z.object({ glue: z.string(), hours: z.number().default(2) });
    const { executor } = subAgent([textResponse('{"glue":"bone"}')]);
    const { told } = await parent(executor.asTool({ ...named, output: { schema } }));
    expect(JSON.parse(told)).toEqual({ glue: 'bone', hours: 2 });
  });

  it('reports the tools that it calls, and their progress', async () => {
    const { executor } = subAgent([calls(['look']), textResponse('Bone.')], { tools: [probe('read')] });
    const { events } = await parent(executor.asTool(named));
    const shown = events.flatMap((event) =>
      event.type === 'progress' ? [`${event.toolName}: ${event.text}`] : [],
    );
    expect(shown).toEqual(['research: look', 'research: look: half']);
  });

  it('spends the budget of the run that calls it', async () => {
    const { agent, executor } = subAgent([calls(['look']), textResponse('Bone.')], {
      tools: [probe('read')],
    });
    const { result, told } = await parent(executor.asTool(named), { limits: { turns: 2 } });
    expect(agent.requests).toHaveLength(1);
    expect(told).toBe('The limit on turns was reached.');
    expect([result.status, result.limit]).toEqual(['limit', 'turns']);
  });

  it('is cancelled with the run that calls it [P3]', async () => {
    let stopped: unknown;
    const waits: ModelStep = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          stopped = signal.reason;
          reject(signal.reason);
        });
        stop.abort();
      });
    const stop = new AbortController();
    const { executor } = subAgent([waits]);
    const run = new Executor({ agent: scriptedModel([call]), tools: [executor.asTool(named)] });
    expect((await run.run('Go.', { signal: stop.signal })).status).toBe('cancelled');
    expect(AgentError.is(stopped)).toBe(true);
  });

  it('gives an error result if it fails, and the run continues [P10]', async () => {
    const fails = () => {
      throw new AgentError({ kind: 'network', message: 'The line is dead.' });
    };
    const failed = await parent(subAgent([fails]).executor.asTool(named));
    expect([failed.told, failed.isError, failed.result.status]).toEqual([
      'The line is dead.',
      true,
      'complete',
    ]);
    const cut = await parent(subAgent([textResponse('Bo', { stop: 'max_tokens' })]).executor.asTool(named));
    expect([cut.told, cut.isError]).toEqual(['The run did not complete: its status is max_tokens.', true]);
  });

  it('gives an error result if a user must decide, even with attended [P21]', async () => {
    const options = { tools: [probe('once')], gate: () => 'ask' as const, attended: true };
    const { agent, executor } = subAgent([calls(['look'])], options);
    const { told, isError } = await parent(executor.asTool(named));
    expect(isError).toBe(true);
    expect(told).toContain('a user must decide on its call to look');
    expect(agent.requests).toHaveLength(1);
  });

  it('rejects an empty prompt', async () => {
    const agent = scriptedModel([
      calls([{ name: 'research', arguments: { prompt: ' ' } }]),
      textResponse('Done.'),
    ]);
    const { executor } = subAgent([]);
    const result = await new Executor({ agent, tools: [executor.asTool(named)] }).run('Go.');
    expect(told(result)).toBe('The prompt is empty.');
  });

  it('only reads if all its tools only read, unless its effect is given [P9]', () => {
    const effect = (tools: readonly Tool[], options = {}) =>
      subAgent([], { tools }).executor.asTool({ ...named, ...options }).effect;
    expect([
      effect([]),
      effect([probe('read')]),
      effect([probe('read'), { ...probe('once'), name: 'b' }]),
    ]).toEqual(['read', 'read', 'once']);
    expect(effect([probe('idempotent')])).toBe('once');
    expect(effect([], { effect: 'once' })).toBe('once');
  });

  it('has the time limit of its executor, unless it is given', () => {
    const { executor } = subAgent([], { limits: { ms: 5000 } });
    expect(executor.asTool(named).timeoutMs).toBe(5000);
    expect(executor.asTool({ ...named, timeoutMs: 7 }).timeoutMs).toBe(7);
  });

  it('rejects a name that no provider accepts', () => {
    const { executor } = subAgent([]);
    expect(() => executor.asTool({ ...named, name: 'a b' })).toThrow('options.name is invalid: it is "a b".');
    for (const options of [undefined, null, {}, 7])
      expect(() => executor.asTool(options as never)).toThrow(
        /^options(\.name)? is invalid: it is (undefined|null|7)/,
      );
  });
});
