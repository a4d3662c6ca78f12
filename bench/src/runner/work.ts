import type { Agent, ModelResponse, Store } from '@cobbler/agent';
import { defineTool, Executor, noUsage } from '@cobbler/agent';
import type { Runner, Workflow } from '@cobbler/agent/runner';
import { sessionWorkflow } from '@cobbler/agent/runner';
import { z } from 'zod';

/** The results of one load. */
export interface Figures {
  readonly sessions: number;
  /** Number of steps of all sessions together. */
  readonly steps: number;
  readonly seconds: number;
  readonly stepsPerSecond: number;
  /** Duration of a run divided by the number of its steps: median and 95th percentile of the runs. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** CPU time of this process per step; wall-clock time depends on what else runs on the machine. */
  readonly cpuMs: number;
}

/** A load on a runner. */
export interface Load {
  readonly workflow: Workflow;
  /** Returns the input of the workflow for a session. */
  input(sessionId: string): { readonly sessionId: string; readonly content: string };
  readonly stepsOfRun: number;
}

/** Returns a load of this many steps that do nothing, which shows the cost of the runner itself. */
export function bareSteps(count: number): Load {
  return {
    stepsOfRun: count,
    input: (sessionId) => ({ sessionId, content: '' }),
    async workflow(_input, steps) {
      for (let at = 0; at < count; at += 1) await steps.run(`s${at}`, () => at);
      return null;
    },
  };
}

/** Returns a load of model requests and tool calls of sessions, with a model and a tool that take no time. */
export function actions(store: Store, turns: number): Load {
  const tool = defineTool({
    name: 'book',
    description: 'Books a place.',
    parameters: z.object({ place: z.number() }),
    effect: 'once',
    execute: ({ place }) => `booked ${place}`,
  });
  const agent = quickModel(turns);
  const executor = () => new Executor({ agent, tools: [tool], store, limits: { turns: turns + 2 } });
  return {
    // One request and one call per turn, and the last response.
    stepsOfRun: 2 * turns + 1,
    input: (sessionId) => ({ sessionId, content: 'Go.' }),
    workflow: sessionWorkflow({ store, executor }),
  };
}

function quickModel(turns: number): Agent {
  return {
    provider: 'bench',
    model: 'bench-model',
    capabilities: {
      files: [],
      reasoning: false,
      parallelCalls: true,
      output: 'none',
      sampling: false,
      cacheUsage: false,
    },
    async run({ messages }) {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      return turn < turns ? calling(turn) : said('Done.');
    },
  };
}

function calling(turn: number): ModelResponse {
  const call = {
    type: 'tool_call',
    id: `call-${turn}`,
    toolName: 'book',
    arguments: { place: turn },
  } as const;
  return {
    ...said(''),
    toolCalls: [call],
    stopReason: 'tool_use',
    message: { role: 'assistant', content: [call] },
  };
}

function said(text: string): ModelResponse {
  return {
    content: text,
    toolCalls: [],
    usage: { inputTokens: 100, outputTokens: 20 },
    stopReason: 'complete',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    model: 'bench-model',
    attempts: 1,
    wasted: noUsage,
  };
}

/**
 * Runs this many concurrent sessions and waits for all of them. `tag` distinguishes the ids of one load from those of
 * another.
 */
export async function measure(runner: Runner, load: Load, sessions: number, tag: string): Promise<Figures> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const perStep = await Promise.all(
    Array.from({ length: sessions }, async (_, index) => {
      const sessionId = `${tag}-${index}`;
      const started = performance.now();
      await runner.start({ ...load.input(sessionId) }, { runId: `run-${sessionId}`, key: sessionId });
      await runner.result(`run-${sessionId}`);
      return (performance.now() - started) / load.stepsOfRun;
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const steps = sessions * load.stepsOfRun;
  perStep.sort((one, other) => one - other);
  const { user, system } = process.cpuUsage(cpu);
  const at = (share: number) =>
    perStep[Math.min(perStep.length - 1, Math.floor(perStep.length * share))] ?? 0;
  return {
    sessions,
    steps,
    seconds,
    stepsPerSecond: steps / seconds,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    cpuMs: (user + system) / 1000 / steps,
  };
}
