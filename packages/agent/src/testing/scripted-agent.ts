import type { Agent, Capabilities, ModelRequest, StopReason } from '../interfaces/agent.ts';
import type { CreateAgentOptions } from '../provider/create-agent.ts';
import { createAgent } from '../provider/create-agent.ts';
import { defaultRetry } from '../provider/retry-policy.ts';
import type { Transport } from '../provider/wire/transport.ts';
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

/** One response in a script. Missing fields are omitted from the response; an empty object is an empty response. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
    /** The id of the call. Default: unique within the agent. */
    readonly id?: string;
  }[];
  /** Stop reason. Default: `tool_use` with calls, otherwise `complete`. */
  readonly stop?: StopReason;
  /** Token usage. Default: 120 input and 30 output tokens. */
  readonly usage?: Usage;
  /**
   * Makes the request fail with this error, after `text` and the other fields have been streamed. With `retryable:
   * true` the agent retries with the next step of the script, as with a real service.
   */
  readonly error?: ErrorData;
  /** If true, the response stalls after these fields and does not end. */
  readonly stalls?: boolean;
  /** Delay before the first byte, by the agent's runtime. */
  readonly delayMs?: number;
}

/** A step of a script: a text, a response, or a function that returns one for the request. */
export type ScriptStep =
  | string
  | ScriptedAnswer
  | ((request: ModelRequest) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** Options of {@link scriptedAgent}. */
export interface ScriptedAgentOptions {
  /** Start again after the last step instead of failing. Default false. */
  readonly repeat?: boolean;
  /** Provider name. Default `scripted`. */
  readonly provider?: string;
  /** Model name. Default `scripted-model`. */
  readonly model?: string;
  /** Declared capabilities; requests that need others are refused. Default: all. */
  readonly capabilities?: Partial<Capabilities>;
  readonly runtime?: Runtime;
  readonly timeouts?: CreateAgentOptions['timeouts'];
  /** Retry policy. Default: three retries for any failure. */
  readonly retry?: CreateAgentOptions['retry'];
}

/** An agent that plays a script and records the requests it receives. */
export interface ScriptedAgent extends Agent {
  /** All requests passed to `run`, in order. */
  readonly requests: readonly ModelRequest[];
}

/**
 * Creates a model that returns scripted responses, without a network or a key, anywhere JavaScript runs. It is built
 * from the same parts as a real provider, so requests are checked, streamed, cancelled and retried in the same way.
 *
 * Each model request uses one step. A request after the last step fails with kind `agent`, code `script_over`.
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
        return serveReply(mockReply(step, place, model), { testing: scriptTesting, secret: '', signal });
      });
      try {
        return await agentOver(transport).run(request, context);
      } catch (error) {
        throw failure === undefined ? error : scriptError(error, failure, provider);
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
    const message = `The script has ${script.length} steps, but this is request ${place + 1}. Add a step or set "repeat".`;
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

function mockReply(step: ScriptedAnswer, place: number, model: string): MockReply {
  const answer = scriptResponse(blocksOf(step, place), {
    model,
    ...defined({ stop: step.stop, usage: step.usage }),
  });
  const stepsWithoutEnd = () => responseSteps(answer).filter(({ type }) => type !== 'end');
  if (step.stalls === true) return replies(answer, { steps: stepsWithoutEnd(), ending: 'stall' });
  if (step.error === undefined) return replies(answer);
  const fault = faultOf(step.error);
  if (answer.blocks.length === 0) return failsWith(fault);
  return replies(answer, { steps: stepsWithoutEnd(), fault });
}

function blocksOf(step: ScriptedAnswer, place: number): ScriptBlock[] {
  const blocks: ScriptBlock[] = [];
  // Only reasoning with a seal is sent back, so add one: the history keeps it as with a real service.
  if (step.reasoning !== undefined)
    blocks.push({ type: 'reasoning', text: step.reasoning, seal: `seal-${place}` });
  if (step.text !== undefined) blocks.push({ type: 'text', text: step.text });
  for (const [index, call] of (step.calls ?? []).entries()) {
    blocks.push(callBlock(call.id ?? `call_${place}_${index}`, call.name, call.arguments));
  }
  return blocks;
}

/**
 * Returns a fault that is retried or not, like the script's error; {@link scriptError} replaces it with the script's own
 * error.
 */
function faultOf({ retryable, message, retryAfterMs }: ErrorData): ScriptFault {
  return {
    kind: retryable === true ? 'busy' : 'invalid',
    message,
    ...defined({ retryAfterMs }),
  };
}

/** Returns the script's error, unless the request failed for another reason, such as cancellation. */
function scriptError(error: unknown, failure: ErrorData, provider: string): unknown {
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
