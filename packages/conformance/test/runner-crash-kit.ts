import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, GateCall, ModelResponse, Tool } from '@cobbler/agent';
import { defineTool, Executor } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { Runner, Workflow } from '@cobbler/agent/runner';
import { approvalSignal, runInSteps } from '@cobbler/agent/runner';
import { sqliteRunner } from '@cobbler/agent/sqlite-runner';
import { calls, scriptedModel, textResponse } from '@cobbler/agent/testing';

/** The files of one crash drill: the runs, their sessions, and the effects of requests and tools. */
export function runnerFiles(folder: string): Record<'runs' | 'sessions' | 'effects', string> {
  return {
    runs: join(folder, 'runs.db'),
    sessions: join(folder, 'sessions.db'),
    effects: join(folder, 'effects.txt'),
  };
}

/** The expected outputs of the runs, independent of the number of kills. */
export const crashOutputs: Readonly<Record<string, string>> = {
  first: 'complete: First done.',
  second: 'complete: Second done.',
  later: 'complete: Later done.',
};

/** Returns the recorded effects in order. */
export function effectsOf(folder: string): string[] {
  const { effects } = runnerFiles(folder);
  return existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
}

const script: Readonly<Record<string, readonly ModelResponse[]>> = {
  first: [calls(['read', 'once']), calls(['set']), textResponse('First done.')],
  second: [calls(['once']), textResponse('Second done.')],
  later: [textResponse('Later done.')],
};

/** Returns an agent that depends only on the conversation, so that any process can continue. */
function agentOf(note: (line: string) => void): Agent {
  return {
    ...scriptedModel([]),
    async run({ messages }) {
      const asked = messages.findLastIndex(({ role }) => role === 'user');
      const [part] = messages[asked]?.content ?? [];
      const prompt = part?.type === 'text' ? part.text : '';
      const answers = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
      note(`request ${prompt}.${answers}`);
      return script[prompt]?.[answers] ?? textResponse('Lost.');
    },
  };
}

function toolsOf(note: (line: string) => void): Tool[] {
  const effects = { read: 'read', set: 'idempotent', once: 'once' } as const;
  return (['read', 'set', 'once'] as const).map((name) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      parameters: { type: 'object' },
      effect: effects[name],
      execute(_args, { idempotencyKey }) {
        note(`${name} ${idempotencyKey}`);
        return `${name} done`;
      },
    }),
  );
}

/** Performs the runs, with approvals. Requests and calls add lines that a crash cannot undo. */
export async function crashWorkflow(folder: string, at: () => void): Promise<Record<string, unknown>> {
  const files = runnerFiles(folder);
  const note = (line: string) => {
    at();
    appendFileSync(files.effects, `${line}\n`);
    at();
  };
  const store = sqliteStore(files.sessions, { onWrite: at });
  const gate = ({ effect }: GateCall) => ({ type: effect === 'once' ? 'ask' : 'allow' }) as const;
  const executor = new Executor({ agent: agentOf(note), tools: toolsOf(note), gate, store });
  const workflow: Workflow<{ sessionId: string; prompt: string }, string> = async (input, steps) => {
    const result = await runInSteps(steps, {
      ...input,
      executor,
      store,
      ask: ({ approvalId }) => {
        const signal = () => runner.signal(steps.runId, approvalSignal(approvalId), { decision: 'allow' });
        setTimeout(() => void signal().catch(() => {}), 5);
      },
    });
    return `${result.status}: ${result.text}`;
  };
  const own = { file: files.runs, workflow, onWrite: at };
  const runner: Runner<{ sessionId: string; prompt: string }, string> = sqliteRunner(own);
  const dueAt = Date.now() + 15;
  await runner.start({ sessionId: 'l', prompt: 'later' }, { runId: 'later', dueAt });
  for (const prompt of ['first', 'second'])
    await runner.start({ sessionId: 's', prompt }, { runId: prompt, key: 's' });
  const outputs: Record<string, unknown> = {};
  for (const runId of Object.keys(crashOutputs)) outputs[runId] = await runner.result(runId);
  await runner.close();
  await store.close();
  return outputs;
}
