import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Workflow } from '@cobbler/agent/runner';
import { maxQueued, runCancelled } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';
import type {
  Context,
  ObjectContext,
  ObjectSharedContext,
  Serde,
  VirtualObjectDefinition,
  WorkflowContext,
  WorkflowDefinition,
  WorkflowSharedContext,
} from '@restatedev/restate-sdk';
import {
  handlers,
  object,
  RestatePromise,
  workflow as restateWorkflow,
  TerminalError,
} from '@restatedev/restate-sdk';
import type { RestateOutcome } from './outcome.ts';
import { failedOutcome } from './outcome.ts';
import type {
  RestateRun,
  RestateRunRecord,
  RunRequest,
  ServiceNames,
  Signalled,
  SignalRequest,
  StartRequest,
  StartResult,
} from './protocol.ts';
import { promises } from './protocol.ts';
import type { CallProgress } from './run-call.ts';
import { RunCall } from './run-call.ts';

export interface ServicesOptions {
  readonly names: ServiceNames;
  readonly workflow: Workflow;
  readonly runtime: Runtime;
  /** Retention of an ended run, in milliseconds. */
  readonly retentionMs: number;
  /** Time for which a waiting run keeps its connection, in milliseconds. */
  readonly idleMs: number;
  /** Called when this process begins to work on a run, and again when it stops. */
  readonly onWork: (call: RunCall, isOn: boolean) => void;
}

/** Retry delays of a failed attempt. They are short because most attempts fail when a process ends. */
const retryPolicy = { initialInterval: 50, exponentiationFactor: 2, maxInterval: 5000 } as const;

/** Time after which the call that only waits for a run releases its connection, in milliseconds. */
const seeIdleMs = 2000;

/** Time limit for one response to a caller that waits for a result, in milliseconds. The caller then asks again. */
const resultMs = 60_000;

/** Returns the names of the handlers, for registration. */
export function handlerNames({ keys, runs }: ServiceNames): Readonly<Record<string, readonly string[]>> {
  return {
    [keys]: ['start', 'enter', 'leave', 'see'],
    [runs]: ['run', 'reserve', 'turn', 'finish', 'standing', 'result', 'cancel', 'signal', 'giveUp'],
  };
}

/**
 * Defines the handlers: for each key an object with the order of its runs, and for each run a Restate workflow with its
 * signals and outcome. Each call of Cobbler's workflow, which ends at its first checkpoint, is a step of Restate's, so
 * only the code here must match the engine's journal, whatever Cobbler's workflow does.
 */
export function services(
  options: ServicesOptions,
): [VirtualObjectDefinition<string, unknown>, WorkflowDefinition<string, unknown>] {
  const { names, retentionMs, idleMs } = options;
  const { exclusive, shared } = handlers.object;
  const keys = object({
    name: names.keys,
    handlers: {
      start: exclusive((ctx: ObjectContext, request: StartRequest) => start(ctx, names, request)),
      enter: exclusive((ctx: ObjectContext, run: RestateRun) => enter(ctx, names, run)),
      leave: exclusive((ctx: ObjectContext, runId: string) => leave(ctx, names, runId)),
      see: shared({ inactivityTimeout: seeIdleMs }, (ctx: ObjectSharedContext, request: RunRequest) =>
        see(ctx, names, request),
      ),
    },
    options: { journalRetention: 0, idempotencyRetention: 600_000, retryPolicy },
  });
  const runs = restateWorkflow({
    name: names.runs,
    handlers: {
      run: handlers.workflow.workflow(
        { inactivityTimeout: idleMs, abortTimeout: idleMs },
        (ctx: WorkflowContext, request: RunRequest) => work(ctx, options, request),
      ),
      reserve: handlers.workflow.shared((ctx: WorkflowSharedContext) =>
        settle(ctx, promises.reserved, ctx.request().id),
      ),
      turn: handlers.workflow.shared((ctx: WorkflowSharedContext) => settle(ctx, promises.turn, true)),
      finish: handlers.workflow.shared((ctx: WorkflowSharedContext, outcome: RestateOutcome) =>
        settle(ctx, promises.over, outcome),
      ),
      standing: handlers.workflow.shared(readRecord),
      result: handlers.workflow.shared(result),
      cancel: handlers.workflow.shared(cancel),
      signal: handlers.workflow.shared(signal),
      giveUp: handlers.workflow.shared(giveUp),
    },
    options: { journalRetention: 0, workflowRetention: retentionMs, retryPolicy },
  });
  return [keys, runs] as [VirtualObjectDefinition<string, unknown>, WorkflowDefinition<string, unknown>];
}

async function start(ctx: ObjectContext, names: ServiceNames, request: StartRequest): Promise<StartResult> {
  const { rejectBusy, delayMs, ...run } = request;
  const open = (await ctx.get<string[]>('open')) ?? [];
  if (open.length > (rejectBusy ? 0 : maxQueued)) {
    const { state } = await call<undefined, RestateRunRecord>(
      ctx,
      names.runs,
      run.runId,
      'standing',
      undefined,
    );
    return state === 'unknown' ? 'busy' : 'exists';
  }
  const isNew = await call<undefined, boolean>(ctx, names.runs, run.runId, 'reserve', undefined);
  if (!isNew) return 'exists';
  if (delayMs > 0) send<RestateRun>(ctx, names.keys, ctx.key, 'enter', run, delayMs);
  else await enter(ctx, names, run);
  return 'started';
}

/** Adds a run that is due to the queue. */
async function enter(ctx: ObjectContext, names: ServiceNames, run: RestateRun): Promise<void> {
  const open = (await ctx.get<string[]>('open')) ?? [];
  ctx.set('open', [...open, run.runId]);
  send<RunRequest>(ctx, names.keys, ctx.key, 'see', { ...run, isFirst: open.length === 0 });
}

/** Waits for the end of a run, then removes it from the queue. */
async function see(ctx: ObjectSharedContext, names: ServiceNames, request: RunRequest): Promise<void> {
  const { runId } = request;
  try {
    await call<RunRequest, null>(ctx, names.runs, runId, 'run', request);
  } catch (thrown) {
    // Other errors end this attempt, not the run.
    if (!(thrown instanceof TerminalError)) throw thrown;
    await call<RestateOutcome, boolean>(ctx, names.runs, runId, 'finish', failedOutcome(runError(thrown)));
  }
  send<string>(ctx, names.keys, ctx.key, 'leave', runId);
}

async function leave(ctx: ObjectContext, names: ServiceNames, runId: string): Promise<void> {
  const open = (await ctx.get<string[]>('open')) ?? [];
  const rest = open.filter((other) => other !== runId);
  if (rest.length === 0) ctx.clear('open');
  else ctx.set('open', rest);
  const [next] = rest;
  if (open[0] === runId && next !== undefined) send<undefined>(ctx, names.runs, next, 'turn', undefined);
}

async function work(ctx: WorkflowContext, options: ServicesOptions, request: RunRequest): Promise<null> {
  const { workflow, runtime, onWork } = options;
  const { runId, isFirst, input } = request;
  if ((await ctx.promise<RestateOutcome>(promises.over).peek()) !== undefined) return null;
  const over = ctx.promise<RestateOutcome>(promises.over).get();
  if (!isFirst) {
    const turn = ctx.promise<boolean>(promises.turn).get();
    const isOver = await RestatePromise.race([turn.map(() => false), over.map(() => true)]);
    if (isOver) return null;
  }
  ctx.set('begun', true);
  const { attemptCompletedSignal: abandoned } = ctx.request();
  const call = new RunCall({ workflow, runId, input, runtime, abandoned });
  onWork(call, true);
  try {
    await Promise.race([callUntilEnded(ctx, options, call, over), call.stopped]);
    return null;
  } catch (reason) {
    if (AgentError.is(reason) && reason.code === 'cancelled') return null;
    // The run is stopped for now. The attempt ends with its connection and returns nothing until then.
    if (AgentError.is(reason) && reason.kind === 'aborted') return await new Promise<never>(() => {});
    throw reason;
  } finally {
    onWork(call, false);
  }
}

/** Calls the workflow until the run ends, here or by a cancel. */
async function callUntilEnded(
  ctx: WorkflowContext,
  { names }: ServicesOptions,
  call: RunCall,
  over: RestatePromise<RestateOutcome>,
): Promise<void> {
  const signals = new Map<string, string | null>();
  for (let count = 1; ; count += 1) {
    // The workflow counts the attempts of its steps; retries by the engine would multiply them.
    const progress = ctx.run(`call/${count}`, () => call.run(signals), { maxRetryAttempts: 1 });
    const end: CallProgress | undefined = await RestatePromise.race([
      progress.map((progress, failure) => {
        if (failure !== undefined) throw failure;
        return progress;
      }),
      over.map(() => undefined),
    ]);
    if (end === undefined) return call.stop(runCancelled(ctx.key));
    if (end.state !== 'waiting') {
      // The engine stores the outcome when its workflow ends; this promise is only faster.
      void ctx.promise<RestateOutcome>(promises.over).resolve(end);
      return;
    }
    if (end.waits.length === 0) continue;
    const found = await firstOf(ctx, end.waits, over);
    if (found === undefined) return;
    const { name, text = (await giveUpWait(ctx, names, found.name)).text } = found;
    signals.set(name, text);
  }
}

/** Returns the first signal that comes, or the name of the first wait that is over; undefined if the run ends. */
function firstOf(
  ctx: WorkflowContext,
  waits: readonly { readonly name: string; readonly leftMs?: number }[],
  over: RestatePromise<unknown>,
): RestatePromise<{ readonly name: string; readonly text?: string | null } | undefined> {
  const signals = waits.map(({ name }) =>
    ctx
      .promise<Signalled>(promises.signal(name))
      .get()
      .map((signalled) => ({ name, text: signalled?.text ?? null })),
  );
  const ends = waits.flatMap(({ name, leftMs }) =>
    leftMs === undefined ? [] : [ctx.sleep(leftMs).map(() => ({ name }))],
  );
  return RestatePromise.race([...signals, ...ends, over.map(() => undefined)]);
}

/** Stops waiting for a signal. The first of an arriving signal and the end of the wait counts, permanently. */
function giveUpWait(ctx: WorkflowContext, names: ServiceNames, name: string): Promise<Signalled> {
  return call<{ name: string }, Signalled>(ctx, names.runs, ctx.key, 'giveUp', { name });
}

async function readRecord(ctx: WorkflowSharedContext): Promise<RestateRunRecord> {
  const over = await ctx.promise<RestateOutcome>(promises.over).peek();
  if (over !== undefined) return over;
  if ((await ctx.get<boolean>('begun')) === true) return { state: 'running' };
  return { state: (await isKnown(ctx)) ? 'queued' : 'unknown' };
}

/** Waits up to `resultMs` for the outcome. Returns the state of the run if there is no outcome yet. */
async function result(ctx: WorkflowSharedContext): Promise<RestateRunRecord> {
  if (!(await isKnown(ctx))) return { state: 'unknown' };
  const over = ctx.promise<RestateOutcome>(promises.over).get();
  return await RestatePromise.race([over, ctx.sleep(resultMs).map(() => ({ state: 'running' as const }))]);
}

async function cancel(ctx: WorkflowSharedContext): Promise<boolean> {
  return (await isKnown(ctx)) && (await settle<RestateOutcome>(ctx, promises.over, { state: 'cancelled' }));
}

async function signal(ctx: WorkflowSharedContext, { name, text }: SignalRequest): Promise<boolean> {
  if (!(await isKnown(ctx)) || (await ctx.promise<RestateOutcome>(promises.over).peek()) !== undefined)
    return false;
  return await settle<Signalled>(ctx, promises.signal(name), { text });
}

async function giveUp(ctx: WorkflowSharedContext, { name }: { readonly name: string }): Promise<Signalled> {
  await settle<Signalled>(ctx, promises.signal(name), { text: null });
  return await ctx.promise<Signalled>(promises.signal(name)).get();
}

async function isKnown(ctx: WorkflowSharedContext): Promise<boolean> {
  return (await ctx.promise<string>(promises.reserved).peek()) !== undefined;
}

/** Resolves a promise with a value. Returns false if it was already resolved. */
async function settle<Value>(ctx: WorkflowSharedContext, name: string, value: Value): Promise<boolean> {
  try {
    await ctx.promise<Value>(name).resolve(value);
    return true;
  } catch (thrown) {
    if (thrown instanceof TerminalError) return false;
    throw thrown;
  }
}

function call<Request, Response>(
  ctx: Context,
  service: string,
  key: string,
  method: string,
  parameter: Request,
): Promise<Response> {
  const serdes = { inputSerde: jsonSerde<Request>(), outputSerde: jsonSerde<Response>() };
  return ctx.genericCall<Request, Response>({ service, key, method, parameter, ...serdes });
}

function send<Request>(
  ctx: Context,
  service: string,
  key: string,
  method: string,
  parameter: Request,
  delay?: number,
): void {
  const inputSerde = jsonSerde<Request>();
  ctx.genericSend<Request>({ service, key, method, parameter, inputSerde, ...defined({ delay }) });
}

/** Returns why Restate's workflow failed as a whole. Errors of Cobbler's are data, so this is an error of the engine. */
function runError(thrown: TerminalError): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'engine',
    message: `Restate ended the run: ${thrown.message}`,
  });
}

/** Serializes values between handlers as JSON; `undefined` is serialized to zero bytes. */
function jsonSerde<Value>(): Serde<Value> {
  return {
    contentType: 'application/json',
    serialize: (value) => new TextEncoder().encode(value === undefined ? '' : JSON.stringify(value)),
    deserialize: (bytes) =>
      (bytes.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(bytes))) as Value,
  };
}
