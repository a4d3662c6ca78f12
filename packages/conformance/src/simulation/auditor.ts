import type { Agent, ModelResponse, Usage } from '@cobbler/agent';
import { AgentError, addUsage, noUsage } from '@cobbler/agent';
import type { ModelService, ServedRequest } from './environment/service.ts';
import { receivedOf, wastedBy } from './environment/service.ts';
import type { SimulatedModelCall, SimulatedRun } from './scenario/record.ts';
import { modelCallMs } from './scenario/setting.ts';
import type { World } from './scenario/world.ts';

/** Tolerance of every promised time, in milliseconds. */
export const slackMs = 250;

/** A run whose model calls are checked. */
export type AuditedRun = Pick<SimulatedRun, 'program' | 'calls' | 'stops'>;

/** The environment of an auditor. */
export interface AuditPlan {
  readonly service: ModelService;
  readonly world: World;
  /** Returns true if the run has reached a limit and only its closing response is missing. */
  readonly isClosing: () => boolean;
}

/** Wraps the agent of a run and compares its results with what the service really did. */
export function audited(
  agent: Agent,
  current: () => AuditedRun,
  { service, world, isClosing }: AuditPlan,
): Agent {
  const auditor = new Auditor(world);
  const { provider, model, capabilities } = agent;
  return {
    provider,
    model,
    capabilities,
    async run(request, context = {}) {
      const record = current();
      if (context.signal !== undefined) record.program.watch(context.signal);
      const wasStopped = record.stops.length > 0;
      const call: SimulatedModelCall = { from: service.of(record.program).length, startedAt: world.elapsed };
      record.calls.push(call);
      const mayCall = request.config?.toolChoice !== 'none';
      const isForNotes = request.tools.length === 0;
      const isDead = !record.program.alive;
      world.expect(isDead || isForNotes || mayCall !== isClosing(), 'closing request', () =>
        mayCall
          ? 'a closing request allows tool calls'
          : 'a request forbids tool calls, but no limit was reached',
      );
      try {
        // A copy can be stopped only through its signal, as with an agent that changes the context.
        const passed = record.calls.length % 2 === 0 ? { ...context } : context;
        const response = await agent.run(request, passed);
        if (isForNotes && response.stopReason !== 'complete') call.inVain = true;
        auditor.checkResponse(call, service.of(record.program).slice(call.from), response);
        return response;
      } catch (error) {
        auditor.checkFailure(call, service.of(record.program).slice(call.from), error);
        throw error;
      } finally {
        world.expect(
          !wasStopped || service.of(record.program).length === call.from,
          'P3 stop',
          'a request was sent after the run was stopped',
        );
      }
    },
  };
}

class Auditor {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  checkResponse(call: SimulatedModelCall, requests: readonly ServedRequest[], response: ModelResponse): void {
    const last = requests.at(-1);
    const failed = requests.slice(0, -1);
    this.#inTime(call);
    const { usage, wasted, model } = response;
    if (call.inVain === true) call.spent = { used: noUsage, wasted: addUsage(usage, wasted) };
    else {
      call.spent = { used: usage, wasted };
      call.model = model;
    }
    this.#attempts(response.attempts, requests);
    this.#wasted(response.wasted, failed);
    if (last === undefined) return this.#world.violate('P1 answer', 'a response without a request');
    const received = receivedOf(last);
    this.#world.expect(
      received.ended,
      'P1 truncated',
      `response ${last.request} has no end but was returned as complete`,
    );
    this.#world.expect(
      sameUsage(response.usage, received.usage),
      'P14 usage',
      () =>
        `response ${last.request} used ${JSON.stringify(received.usage)}, reported ${JSON.stringify(response.usage)}`,
    );
    this.#world.expect(
      response.stopReason === last.answer.stop,
      'P4 stop reason',
      `response ${last.request} stopped with ${last.answer.stop}, reported ${response.stopReason}`,
    );
  }

  checkFailure(call: SimulatedModelCall, requests: readonly ServedRequest[], thrown: unknown): void {
    this.#inTime(call);
    if (!AgentError.is(thrown))
      return this.#world.violate('P1 error', `a model call threw ${String(thrown)}`);
    const wasted = thrown.wasted ?? noUsage;
    call.spent = { used: noUsage, wasted };
    this.#attempts(thrown.attempts ?? 0, requests);
    this.#wasted(wasted, requests);
  }

  #attempts(reported: number, requests: readonly ServedRequest[]): void {
    this.#world.expect(
      reported === requests.length,
      'P14 attempts',
      `${requests.length} requests were made, reported ${reported}`,
    );
  }

  #wasted(reported: Usage, failed: readonly ServedRequest[]): void {
    let min = noUsage;
    let max = noUsage;
    for (const served of failed) {
      const [minWasted, maxWasted] = wastedBy(served);
      min = addUsage(min, minWasted);
      max = addUsage(max, maxWasted);
    }
    const isTrue =
      between(reported.inputTokens, min.inputTokens, max.inputTokens) &&
      between(reported.outputTokens, min.outputTokens, max.outputTokens);
    this.#world.expect(
      isTrue,
      'P14 wasted',
      () => `${JSON.stringify(max)} were wasted, reported ${JSON.stringify(reported)}`,
    );
  }

  #inTime({ startedAt }: SimulatedModelCall): void {
    const ms = this.#world.elapsed - startedAt;
    this.#world.expect(ms <= modelCallMs + slackMs, 'P2 model call', `a model call took ${ms} ms`);
  }
}

function between(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

const counts = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const;

export function sameUsage(left: Usage, right: Usage): boolean {
  return counts.every((count) => (left[count] ?? 0) === (right[count] ?? 0));
}
