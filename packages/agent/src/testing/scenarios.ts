/**
 * Runs with every kind of event, for contract suites that interrupt them.
 *
 * @module
 */

import type { RunEvent, RunStatus } from '../events/event.ts';
import type { Agent, ModelRequest, ModelResponse } from '../interfaces/agent.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { ExecutorOptions } from '../run/options.ts';
import type { Run } from '../run/run.ts';
import type { Message } from '../values/message.ts';
import { userMessage } from '../values/message.ts';
import type { ProbeRun } from './probe-tools.ts';
import { probeTools } from './probe-tools.ts';
import { calls, scriptedModel, textResponse } from './scripted-model.ts';

/**
 * A test scenario that can be continued from any point, because the agent's responses depend only on the conversation.
 */
export interface Scenario {
  readonly name: string;
  readonly status: RunStatus;
  /** Creates everything from scratch, like a newly started process. */
  open(): Staged;
}

/** A scenario ready to run. */
export interface Staged {
  readonly options: ExecutorOptions;
  /** Tool calls, in the order in which they started. */
  readonly runs: readonly ProbeRun[];
  /** Reacts to events; `approvals` contains the ids of the pending approvals. */
  watch?(event: RunEvent, run: Run, approvals: readonly string[]): void;
}

/**
 * Creates an agent that chooses its response by the number of responses in the conversation, and repeats the last one.
 */
function follows(script: readonly ModelResponse[], answer = answersIn): Agent {
  return {
    ...scriptedModel([]),
    run(request) {
      const step = script[answer(request)] ?? script.at(-1);
      return step === undefined
        ? Promise.reject(new Error('The script has no more steps.'))
        : Promise.resolve(step);
    },
  };
}

function answersIn({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

/** Creates tools of all three effects, and one that fails. */
function createTools(): { tools: Tool[]; runs: readonly ProbeRun[] } {
  const { tool, runs } = probeTools();
  const tools = [
    tool('read', { effect: 'read' }),
    tool('set', { effect: 'idempotent' }),
    tool('write'),
    tool('bad', { effect: 'read', execute: () => Promise.reject(new Error('broken')) }),
  ];
  return { tools, runs };
}

function plain(
  name: string,
  script: readonly ModelResponse[],
  rest: Partial<ExecutorOptions> = {},
): Scenario {
  return {
    name,
    status: rest.limits === undefined ? 'complete' : 'limit',
    open() {
      const { tools, runs } = createTools();
      return { runs, options: { agent: follows(script), tools, ...rest } };
    },
  };
}

const asked: Scenario = {
  name: 'the user decides about two calls',
  status: 'complete',
  open() {
    const { tools, runs } = createTools();
    const script = [calls(['read', 'write', 'write']), textResponse('Done.')];
    const gate = ({ toolName }: { toolName: string }) =>
      ({ type: toolName === 'write' ? 'ask' : 'allow' }) as const;
    return {
      runs,
      options: { agent: follows(script), tools, gate, attended: true },
      watch(event, run, approvals) {
        if (event.type !== 'status' || event.state !== 'waiting') return;
        for (const [place, approvalId] of approvals.entries()) {
          run.decide(approvalId, { decision: place === 0 ? 'allow' : 'deny' });
        }
      },
    };
  },
};

const steered: Scenario = {
  name: 'the user steers while a tool runs',
  status: 'complete',
  open() {
    const { tools, runs } = createTools();
    let sent = 0;
    return {
      runs,
      options: { agent: follows([calls(['write', 'read']), textResponse('Done.')]), tools },
      watch(event, run) {
        if (sent >= 3 || (event.type !== 'tool_started' && event.type !== 'assistant')) return;
        sent += 1;
        run.steer(`One more thing: ${sent}.`);
      },
    };
  },
};

const cancelled: Scenario = {
  name: 'the user cancels in the middle of a batch',
  status: 'cancelled',
  open() {
    const { tools, runs } = createTools();
    return {
      runs,
      options: { agent: follows([calls(['read', 'write', 'write']), textResponse('Never.')]), tools },
      watch(event, run) {
        if (event.type === 'tool_result') run.cancel();
      },
    };
  },
};

const compacted: Scenario = {
  name: 'the conversation is summarized during the run',
  status: 'complete',
  open() {
    const { tools, runs } = createTools();
    const big = { inputTokens: 900, outputTokens: 200 };
    const script = [calls(['read', 'write'], { usage: big }), calls(['write']), textResponse('Done.')];
    const summary = 'Read and wrote.';
    const step = (request: ModelRequest) => {
      const summaries = JSON.stringify(request.messages[0] ?? userMessage('')).includes(summary) ? 1 : 0;
      return summaries === 0 ? answersIn(request) : Math.max(1, answersIn(request));
    };
    const kept = 3;
    const compact = (messages: readonly Message[]) =>
      Promise.resolve({ upTo: Math.max(0, messages.length - kept), summary });
    const context = { maxTokens: 1000, compact };
    return { runs, options: { agent: follows(script, step), tools, context } };
  },
};

/** Scenarios that use each feature of the loop once: tools, retries, compaction, output, steering, a limit. */
export const scenarios: readonly Scenario[] = [
  plain('one response', [textResponse('Done.')]),
  plain('tools of every kind in several turns', [
    calls(['read', 'read']),
    calls(['write', 'set', 'read', 'write']),
    textResponse('Done.'),
  ]),
  plain(
    'a batch that stops at a failure',
    [calls(['write', 'bad', 'write']), calls(['set']), textResponse('Done.')],
    {
      toolErrors: 'stop-batch',
    },
  ),
  plain(
    'a limit with a closing response',
    [calls(['write', 'write', 'write']), textResponse('As far as it went.')],
    {
      limits: { toolCalls: 2 },
      onLimit: 'finalize',
    },
  ),
  asked,
  steered,
  cancelled,
  compacted,
];
