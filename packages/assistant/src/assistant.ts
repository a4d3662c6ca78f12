import type { Json } from '@cobbler/agent';
import { AgentError, Executor, systemRuntime } from '@cobbler/agent';
import { read } from '@cobbler/agent/input';
import type { Runner, Steps, Workflow } from '@cobbler/agent/runner';
import { assertNever } from '@cobbler/agent/values';
import { customRandom, urlAlphabet } from 'nanoid';
import type { ReadUpdate } from './channel/incoming.ts';
import { readIncoming } from './channel/incoming.ts';
import { remember } from './memory/remember.ts';
import { command, handleButtonPress } from './turn/control.ts';
import { deliver, replyTo } from './turn/deliver.ts';
import type { AssistantDependencies, AssistantOptions } from './turn/dependencies.ts';
import { readOptions } from './turn/dependencies.ts';
import * as words from './turn/messages.ts';
import { recordSpending } from './turn/record-spending.ts';
import { defaultPersona } from './turn/system-prompt.ts';
import { turn, turnSession } from './turn/turn.ts';
import type { RememberWork, Work } from './turn/work.ts';
import { keyOf, workFor } from './turn/work.ts';

/** A chat assistant: it accepts arrivals, and its workflow processes them. */
export interface Assistant {
  /** The workflow for the runner. Only `receive` creates its input. */
  readonly workflow: Workflow;
  /**
   * Accepts an arrival. After it resolves, the arrival is processed even after a crash, and the channel may confirm
   * it. A repeated arrival changes nothing. Returns false if there is nothing to do.
   * @throws AgentError if the arrival could not be recorded; the channel should deliver it again.
   */
  receive(update: ReadUpdate): Promise<boolean>;
}

/**
 * Creates an assistant from its dependencies. It runs wherever they do.
 * @throws AgentError `invalid` for an invalid option.
 */
export function createAssistant(options: AssistantOptions): Assistant {
  const dependencies = withDefaults(read(options, readOptions));
  const newId = nanoidOf(dependencies);
  return {
    workflow: async (input, steps) => {
      // Only `receive` starts runs.
      const work = input as unknown as Work;
      return (await runWork(dependencies, work, steps)) ?? null;
    },
    async receive(given) {
      const update = read(given, readIncoming, 'update');
      if (update.type === 'ignored') return false;
      const work = workFor(update, newId);
      const runId = `${dependencies.channel.name}-${update.id}`;
      try {
        return await dependencies.runner().start(work as unknown as Json, { runId, key: keyOf(work) });
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
        dependencies.report(AgentError.from(thrown), `arrival ${runId}`);
        const refusal = workFor({ ...update, type: 'other', answer: words.tooManyWaiting }, newId);
        return await refuseMore(dependencies.runner(), refusal, runId);
      }
    },
  };
}

/** Refuses an arrival whose chat has too many that wait. Only one reply at a time: a flood must not cause another. */
async function refuseMore(runner: Pick<Runner, 'start'>, work: Work, runId: string): Promise<boolean> {
  const key = `full:${keyOf(work)}`;
  try {
    return await runner.start(work as unknown as Json, { runId: `${runId}:full`, key, whenBusy: 'reject' });
  } catch (thrown) {
    if (!isBusy(thrown)) throw thrown;
    return false;
  }
}

function isBusy(thrown: unknown): boolean {
  return AgentError.is(thrown) && thrown.code === 'busy';
}

function withDefaults(options: AssistantOptions): AssistantDependencies {
  const { agent, tools = [], runtime = systemRuntime } = options;
  // Each turn has an executor of its own; this one only checks its options.
  new Executor({ agent, tools, runtime });
  return {
    ...options,
    tools,
    gate: options.gate ?? (({ effect }) => ({ type: effect === 'read' ? 'allow' : 'ask' })),
    persona: options.persona ?? defaultPersona,
    timeZone: options.timeZone ?? 'UTC',
    toolCalls: options.toolCalls ?? 5,
    approvalMs: options.approvalMs ?? 3_600_000,
    admins: options.admins ?? [],
    rateLimit: options.rateLimit ?? { count: 20, perMs: 60_000 },
    runtime,
    report: options.report ?? (() => {}),
  };
}

async function runWork(
  dependencies: AssistantDependencies,
  work: Work,
  steps: Steps,
): Promise<Json | undefined> {
  switch (work.type) {
    case 'turn':
      return await turn(dependencies, work, steps);
    case 'command':
      await command(dependencies, work, steps);
      return undefined;
    case 'tap':
      await handleButtonPress(dependencies, work, steps);
      return undefined;
    case 'notice': {
      await deliver(dependencies, steps, { ...replyTo(work), markdown: work.text });
      return undefined;
    }
    case 'remember':
      return await rememberChat(dependencies, work, steps);
    default:
      return assertNever(work);
  }
}

async function rememberChat(
  dependencies: AssistantDependencies,
  { chatId, userId: user }: RememberWork,
  steps: Steps,
): Promise<Json> {
  const { memory, messages, agent, remember: rule } = dependencies;
  if (memory === undefined) return 0;
  return await steps.run(
    'remember',
    async ({ signal }) => {
      const { runId } = steps;
      const onSpent = recordSpending(dependencies, { sessionId: turnSession(chatId, runId), runId, user });
      const { count } = await remember({ messages, memory, agent, chatId, signal, onSpent, ...rule });
      return count;
    },
    { retry: { retries: 2, firstMs: 5000 }, timeoutMs: 300_000 },
  );
}

/** Returns a generator of nanoids, which requirement S3.10 specifies as ids. Random numbers come from the runtime. */
function nanoidOf({ runtime }: AssistantDependencies): () => string {
  return customRandom(urlAlphabet, 21, (size) =>
    Uint8Array.from({ length: size }, () => Math.floor(runtime.random() * 256)),
  );
}
