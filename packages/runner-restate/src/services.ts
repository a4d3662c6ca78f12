import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Routine } from '@cobbler/agent/runner';
import { runEnded } from '@cobbler/agent/runner';
import type {
  Context,
  HooksProvider,
  ObjectContext,
  ObjectSharedContext,
  VirtualObjectDefinition,
  WorkflowContext,
  WorkflowDefinition,
  WorkflowSharedContext,
} from '@restatedev/restate-sdk';
import { handlers, object, RestatePromise, TerminalError, workflow } from '@restatedev/restate-sdk';
import { jsonSerde } from './json-serde.ts';
import type { RestateOutcome } from './outcome.ts';
import { done, failed, wrongVersion } from './outcome.ts';
import type {
  RestateRunRecord,
  RunRequest,
  ServiceNames,
  Signalled,
  SignalRequest,
  StartRequest,
  StartResult,
} from './protocol.ts';
import { promises } from './protocol.ts';
import { RestateSteps } from './restate-steps.ts';

export interface ServicesOptions {
  readonly names: ServiceNames;
  readonly routine: Routine;
  readonly runtime: Runtime;
  readonly version: string;
  readonly replays: readonly string[];
  /** Retention of an ended run, in milliseconds. */
  readonly retentionMs: number;
  /** How long a waiting run keeps its connection, in milliseconds. */
  readonly idleMs: number;
  /** Ends a run that cannot continue here and lets the next one start, from outside and without its journal. */
  readonly abandon: (run: RunRequest, invocationId: string, error: AgentError) => Promise<void>;
  /** Checks from outside whether a run has ended. */
  readonly isOver: (runId: string) => Promise<boolean>;
  /** Called with the steps of each run that starts here, and again when it stops. */
  readonly onWork: (steps: RestateSteps, isOn: boolean) => void;
}

/** Retry delays of a failed attempt. They are short because most attempts fail when a process ends. */
const retryPolicy = { initialInterval: 50, exponentiationFactor: 2, maxInterval: 5000 } as const;

/** Time after which the call that only waits for a run releases its connection, in milliseconds. */
const seeIdleMs = 2000;

/** Time limit for one response to a caller that waits for a result, in milliseconds. The caller then asks again. */
const resultMs = 60_000;

/** Pattern of Restate's error for a workflow that executes different steps from those in its journal. */
const mismatch = /mismatch/i;

/** Returns the names of the handlers, for registration. */
export function handlerNames({ keys, runs }: ServiceNames): Readonly<Record<string, readonly string[]>> {
  return {
    [keys]: ['start', 'leave', 'see'],
    [runs]: ['run', 'reserve', 'turn', 'finish', 'standing', 'result', 'cancel', 'signal', 'giveUp'],
  };
}

/**
 * Defines the handlers: for each key an object with the order of its runs, and for each run a workflow with its
 * steps, signals and outcome. The object calls and observes the workflow. This call is never replayed with different
 * code, so a run that cannot continue still ends and the next one starts.
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
      leave: exclusive((ctx: ObjectContext, runId: string) => leave(ctx, names, runId)),
      see: shared({ inactivityTimeout: seeIdleMs }, (ctx: ObjectSharedContext, request: RunRequest) =>
        see(ctx, names, request),
      ),
    },
    options: { journalRetention: 0, idempotencyRetention: 600_000, retryPolicy },
  });
  const runs = workflow({
    name: names.runs,
    handlers: {
      run: handlers.workflow.workflow(
        { inactivityTimeout: idleMs, abortTimeout: idleMs, hooks: [mismatchHook(options)] },
        (ctx: WorkflowContext, request: RunRequest) => work(ctx, options, request),
      ),
      reserve: handlers.workflow.shared((ctx: WorkflowSharedContext) =>
        settle(ctx, promises.reserved, ctx.request().id),
      ),
      turn: handlers.workflow.shared((ctx: WorkflowSharedContext) => settle(ctx, promises.turn, true)),
      finish: handlers.workflow.shared((ctx: WorkflowSharedContext, outcome: RestateOutcome) =>
        settle(ctx, promises.over, outcome),
      ),
      standing: handlers.workflow.shared(standing),
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
  const { rejectBusy, ...run } = request;
  const open = (await ctx.get<string[]>('open')) ?? [];
  if (rejectBusy && open.length > 0) {
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
  ctx.set('open', [...open, run.runId]);
  send<RunRequest>(ctx, names.keys, ctx.key, 'see', { ...run, line: ctx.key, isFirst: open.length === 0 });
  return 'started';
}

/** Waits for the end of a run, then removes it from the queue. */
async function see(ctx: ObjectSharedContext, names: ServiceNames, request: RunRequest): Promise<void> {
  const { runId } = request;
  try {
    await call<RunRequest, null>(ctx, names.runs, runId, 'run', request);
  } catch (thrown) {
    // Other errors end this attempt, not the run.
    if (!(thrown instanceof TerminalError)) throw thrown;
    await call<RestateOutcome, boolean>(ctx, names.runs, runId, 'finish', failed(runError(thrown)));
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
  const { names, routine, runtime, version, replays, isOver, onWork } = options;
  const { runId, isFirst, input } = request;
  if (request.version !== version && !replays.includes(request.version)) {
    // This cannot be the result of this attempt: an attempt that deviates from its journal cannot even fail.
    const error = wrongVersion(runId, request.version, version);
    await options.abandon(request, ctx.request().id, error);
    throw error;
  }
  const over = ctx.promise<RestateOutcome>(promises.over).get();
  if (!isFirst) {
    const turn = ctx.promise<boolean>(promises.turn).get();
    const isOverNow = await RestatePromise.race([turn.map(() => false), over.map(() => true)]);
    if (isOverNow) return null;
  }
  ctx.set('begun', true);
  const steps = new RestateSteps({ ctx, runId, names, runtime, over, isOver: () => isOver(runId) });
  onWork(steps, true);
  try {
    const outcome = await Promise.race([outcomeOf(routine, input, steps), steps.stopped]);
    steps.stop(runEnded(runId));
    // The engine stores the outcome when the workflow ends; this promise is only faster.
    void ctx.promise<RestateOutcome>(promises.over).resolve(outcome);
    return null;
  } catch (reason) {
    if (AgentError.is(reason) && reason.code === 'cancelled') return null;
    // The run is stopped for now. The attempt ends with its connection and returns nothing until then.
    return await new Promise<never>(() => {});
  } finally {
    onWork(steps, false);
  }
}

async function outcomeOf(routine: Routine, input: string, steps: RestateSteps): Promise<RestateOutcome> {
  try {
    return done(await routine(JSON.parse(input), steps), steps.runId);
  } catch (thrown) {
    return failed(thrown);
  }
}

async function standing(ctx: WorkflowSharedContext): Promise<RestateRunRecord> {
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

function send<Request>(ctx: Context, service: string, key: string, method: string, parameter: Request): void {
  ctx.genericSend<Request>({ service, key, method, parameter, inputSerde: jsonSerde<Request>() });
}

/** Returns why a workflow failed as a whole. Errors of the routine are data, so this is an error of the engine. */
function runError(thrown: TerminalError): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'engine',
    message: `Restate ended the run: ${thrown.message}`,
  });
}

/**
 * Calls `abandon` when the SDK ends an attempt because the routine differs from the journal. The engine would retry
 * such attempts forever.
 */
function mismatchHook({ abandon }: ServicesOptions): HooksProvider {
  return ({ request }) => ({
    interceptor: {
      async handler(next) {
        try {
          await next();
        } catch (thrown) {
          const reason = thrown instanceof Error ? thrown.message : '';
          if (!(thrown instanceof TerminalError) && !AgentError.is(thrown) && mismatch.test(reason)) {
            const run = jsonSerde<RunRequest>().deserialize(request.body);
            // The attempt has ended; the next one calls this again if it fails.
            abandon(run, request.id, changedRoutine(run.runId)).catch(() => {});
          }
          throw thrown;
        }
      },
    },
  });
}

function changedRoutine(runId: string): AgentError {
  const message = `The workflow of run ${runId} executes different steps from the recorded ones, so the run cannot continue. Give a changed workflow a new version, and start the run again under another id.`;
  return new AgentError({ kind: 'invalid', code: 'replay', message });
}
