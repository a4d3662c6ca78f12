import type { Options, Query, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { ClaudeCodeAgentConfig } from '@cobbler/delegate/claude-code-agent';

type Sdk = NonNullable<ClaudeCodeAgentConfig['sdk']>;

/** A message that the SDK yields, or a function that runs between messages. */
export type Step = object | ((options: Options, control: Control) => unknown);

/** The events that a step can wait for. */
export interface Control {
  readonly interrupted: Promise<void>;
}

/** Plays one script per query, and records the queries. */
export interface FakeSdk extends Sdk {
  readonly asked: { readonly prompt: string; readonly options: Options }[];
}

/** Returns an SDK that yields scripts. Like the real one, it throws after each error result. */
export function fakeSdk(...scripts: readonly (readonly Step[])[]): FakeSdk {
  const asked: FakeSdk['asked'] = [];
  let played = 0;
  return {
    asked,
    query({ prompt, options }) {
      const script = scripts[played++] ?? [];
      const interrupted = Promise.withResolvers<void>();
      const messages = play(script, { prompt, options, interrupted: interrupted.promise, asked });
      const query = Object.assign(messages, {
        interrupt: async () => interrupted.resolve(),
        close: () => interrupted.resolve(),
      });
      return query as unknown as Query;
    },
  };
}

async function* play(
  script: readonly Step[],
  given: {
    prompt: AsyncIterable<SDKUserMessage>;
    options: Options;
    interrupted: Promise<void>;
    asked: FakeSdk['asked'];
  },
): AsyncGenerator<object> {
  const { value } = await given.prompt[Symbol.asyncIterator]().next();
  given.asked.push({ prompt: JSON.stringify(value?.message.content), options: given.options });
  for (const step of script) {
    if (typeof step !== 'function') {
      yield step;
      if ('is_error' in step && step.is_error === true)
        throw new Error('Claude Code returned an error result');
      continue;
    }
    const made: unknown = await step(given.options, { interrupted: given.interrupted });
    if (typeof made === 'object' && made !== null) yield made;
  }
}

export const init = (session_id = 'c-1'): object => ({ type: 'system', subtype: 'init', session_id });

export const says = (...content: readonly object[]): object => ({
  type: 'assistant',
  message: { id: 'm', content },
});

export const text = (said: string): object => ({ type: 'text', text: said });

export const use = (id: string, name: string, input: object = {}): object => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export const gave = (tool_use_id: string): object => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id, content: 'ok' }] },
});

export const ends = (rest: object = {}): object => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'Done.',
  num_turns: 1,
  total_cost_usd: 0.01,
  usage: {},
  ...rest,
});

export const gone: object = ends({
  subtype: 'error_during_execution',
  is_error: true,
  num_turns: 0,
  result: undefined,
  errors: ['No conversation found with session ID: old'],
});

export const overloaded: object = ends({
  is_error: true,
  api_error_status: 529,
  result: 'API Error: 529 {"type":"overloaded_error"}',
});

/** Returns the decision of the SDK's hook about a call. */
export async function hooked(
  options: Options,
  id: string,
  name: string,
  input: object = {},
): Promise<object> {
  const hook = options.hooks?.PreToolUse?.[0]?.hooks[0];
  const given = { hook_event_name: 'PreToolUse', tool_name: name, tool_input: input, tool_use_id: id };
  return (await hook?.(given as never, id, { signal: new AbortController().signal })) ?? {};
}

/** Returns the decision of the SDK's permission prompt about a call. */
export async function prompted(
  options: Options,
  id: string,
  name: string,
  input: object = {},
): Promise<{ behavior: string }> {
  const context = { signal: new AbortController().signal, toolUseID: id } as never;
  const answer = await options.canUseTool?.(name, { ...input }, context);
  return { behavior: answer?.behavior ?? 'none' };
}
