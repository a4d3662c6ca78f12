import type { Agent, Capabilities, ModelRequest, StopReason } from '../interfaces/agent.ts';
import type { CreateAgentOptions } from '../provider/create-agent.ts';
import { createAgent } from '../provider/create-agent.ts';
import type { Transport } from '../provider/wire/transport.ts';
import { defaultRetry } from '../values/backoff.ts';
import { defined } from '../values/defined.ts';
import type { ErrorData } from '../values/errors.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import type { Usage } from '../values/usage.ts';
import { scriptTesting } from './script-testing.ts';
import { scriptCapabilities, scriptProvider, scriptWire } from './script-wire.ts';
import { handlerTransport } from './service/handler-transport.ts';
import type { MockReply } from './service/play.ts';
import { failsWith, replies } from './service/play.ts';
import { serveReply } from './service/player.ts';
import type { ScriptBlock, ScriptFault } from './service/provider-testing.ts';
import { callBlock, responseSteps, scriptResponse } from './service/script.ts';

/** One answer in a script. What is absent is left out of the answer; an empty object is an empty answer. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
    /** Default: unique within the agent. */
    readonly id?: string;
  }[];
  /** Default: `tool_use` with calls, else `complete`. */
  readonly stop?: StopReason;
  /** Default: 120 tokens in, 30 out. */
  readonly usage?: Usage;
  /**
   * The request fails with this, after `text` and whatever else is given has been streamed. `retryable: true`
   * makes the agent try again, with the next step of the script, as it would with a real service.
   */
  readonly error?: ErrorData;
  /** After what is given nothing more comes, and the answer does not end. */
  readonly stalls?: boolean;
  /** Time before the first byte, by the agent's runtime. */
  readonly delayMs?: number;
}

/** A step of a script: a text, an answer, or a function that answers in view of the request. */
export type ScriptStep =
  | string
  | ScriptedAnswer
  | ((request: ModelRequest) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** What a `scriptedAgent` says it is, and what it does when its script is over. */
export interface ScriptedAgentOptions {
  /** Begin again when the script is over, instead of failing. Default false. */
  readonly repeat?: boolean;
  /** Default `scripted`. */
  readonly provider?: string;
  /** Default `scripted-model`. */
  readonly model?: string;
  /** What the agent admits to; the rest is refused. Default: everything. */
  readonly capabilities?: Partial<Capabilities>;
  readonly runtime?: Runtime;
  readonly timeouts?: CreateAgentOptions['timeouts'];
  /** Default: three retries, whatever the failure. */
  readonly retry?: CreateAgentOptions['retry'];
}

/** An agent that plays a script and keeps what it was asked. */
export interface ScriptedAgent extends Agent {
  /** Every request given to `run`, in order. */
  readonly requests: readonly ModelRequest[];
}

/**
 * A model that says what a script says, without a network or a key, anywhere JavaScript runs. It is made of
 * the same parts as a real provider, so requests are checked, streamed, cancelled and retried alike.
 *
 * Each request to the model takes one step. A request too many fails with kind `agent`, code `script_over`.
 */
export function scriptedAgent(
  script: readonly ScriptStep[],
  options: ScriptedAgentOptions = {},
): ScriptedAgent {
  const {
    repeat = false,
    provider = scriptProvider,
    model = 'scripted-model',
    runtime = systemRuntime,
  } = options;
  const capabilities = { ...scriptCapabilities, ...options.capabilities };
  const requests: ModelRequest[] = [];
  let taken = 0;
  const agentOver = (transport: Transport) =>
    createAgent(scriptWire({ baseURL: 'http://script.invalid', apiKey: 'no-key' }, provider), {
      model,
      capabilities,
      runtime,
      transport,
      ...defined({ timeouts: options.timeouts }),
      retry: options.retry ?? { retries: defaultRetry.retries },
    });
  return {
    provider,
    model,
    capabilities,
    requests,
    async run(request, context) {
      requests.push({ ...request, messages: [...request.messages] });
      let failure: ErrorData | undefined;
      const transport = handlerTransport(async ({ signal }) => {
        const place = taken++;
        const step = await readStep(script, repeat ? place % script.length : place, request);
        failure = step.error;
        if (step.delayMs !== undefined) await pause(runtime, step.delayMs, signal);
        return serveReply(playOf(step, place, model), { testing: scriptTesting, secret: '', signal });
      });
      try {
        return await agentOver(transport).run(request, context);
      } catch (error) {
        throw failure === undefined ? error : worded(error, failure, provider);
      }
    },
  };
}

async function readStep(
  script: readonly ScriptStep[],
  place: number,
  request: ModelRequest,
): Promise<ScriptedAnswer> {
  const step = script[place];
  if (step === undefined) {
    const message = `The script of ${script.length} steps is over: this is request ${place + 1}. Add a step or set "repeat".`;
    return { error: { kind: 'agent', code: 'script_over', message } };
  }
  try {
    const answer = typeof step === 'function' ? await step(request) : step;
    return typeof answer === 'string' ? { text: answer } : answer;
  } catch (error) {
    const cause = summarize(error);
    const message = `Step ${place + 1} of the script threw: ${cause.message}`;
    return { error: { kind: 'agent', code: 'script_threw', message, cause } };
  }
}

function playOf(step: ScriptedAnswer, place: number, model: string): MockReply {
  const answer = scriptResponse(blocksOf(step, place), {
    model,
    ...defined({ stop: step.stop, usage: step.usage }),
  });
  const begun = () => responseSteps(answer).filter(({ type }) => type !== 'end');
  if (step.stalls === true) return replies(answer, { steps: begun(), ending: 'stall' });
  if (step.error === undefined) return replies(answer);
  const fault = faultOf(step.error);
  if (answer.blocks.length === 0) return failsWith(fault);
  return replies(answer, { steps: begun(), fault });
}

function blocksOf(step: ScriptedAnswer, place: number): ScriptBlock[] {
  const blocks: ScriptBlock[] = [];
  // The seal is what makes reasoning worth sending back: it is kept in the history as with a real service.
  if (step.reasoning !== undefined)
    blocks.push({ type: 'reasoning', text: step.reasoning, seal: `seal-${place}` });
  if (step.text !== undefined) blocks.push({ type: 'text', text: step.text });
  for (const [index, call] of (step.calls ?? []).entries()) {
    blocks.push(callBlock(call.id ?? `call_${place}_${index}`, call.name, call.arguments));
  }
  return blocks;
}

/** What makes the agent try again, or not; {@link worded} puts the script's own error in its place. */
function faultOf({ retryable, message, retryAfterMs }: ErrorData): ScriptFault {
  return {
    kind: retryable === true ? 'busy' : 'invalid',
    message,
    ...defined({ retryAfterMs }),
  };
}

/** The script's error as the agent's own, unless something else went wrong, such as a cancel. */
function worded(error: unknown, failure: ErrorData, provider: string): unknown {
  if (!AgentError.is(error) || error.kind === 'aborted' || error.kind === 'timeout') return error;
  return new AgentError({
    provider,
    ...defined({ attempts: error.attempts, wasted: error.wasted }),
    ...failure,
  });
}

function pause(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clear();
      reject(signal.reason);
    };
    const clear = runtime.timer(ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
