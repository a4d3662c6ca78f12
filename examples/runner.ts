// Shows a run that outlives its process. Its log contains all requests and calls, and a wait needs no process.
// Run it with: npm run try -- examples/runner.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolEffect } from '@cobbler/agent';
import { defineTool, Executor } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { Steps } from '@cobbler/agent/runner';
import { approvalSignal, runInSteps } from '@cobbler/agent/runner';
import { sqliteRunner } from '@cobbler/agent/sqlite-runner';
import { scriptedAgent } from '@cobbler/agent/testing';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-example-'));
const done: string[] = [];
const note = (name: string, effect: ToolEffect) =>
  defineTool({
    name,
    description: `Performs the step ${name}.`,
    effect,
    parameters: { type: 'object' },
    execute: () => `${done.push(name)} things are done`,
  });
const tools = [note('measure', 'read'), note('cut', 'once')];
const agent = scriptedAgent([
  { calls: [{ name: 'measure', arguments: {} }] },
  { calls: [{ name: 'cut', arguments: {} }] },
  'The leather is cut.',
]);
const { promise: question, resolve: ask } = Promise.withResolvers<string>();

/** Opens the store and the runner, as each new process does. */
function open() {
  const store = sqliteStore(join(folder, 'sessions.db'));
  const gate = ({ effect }: { effect: ToolEffect }) =>
    ({ type: effect === 'read' ? 'allow' : 'ask' }) as const;
  const executor = new Executor({ agent, store, tools, gate });
  const workflow = async ({ task }: { task: string }, steps: Steps) => {
    const { text } = await runInSteps(steps, {
      executor,
      store,
      sessionId: steps.runId,
      prompt: task,
      // Cobbler may call this function again until the decision arrives, so it must be safe to repeat.
      ask: ({ approvalId }) => ask(approvalId),
    });
    await steps.run('tell', () => done.push('told'));
    return text;
  };
  return { store, runner: sqliteRunner({ file: join(folder, 'runs.db'), workflow }) };
}

// The first process runs the call that the gate allows, requests approval for the other call, and ends.
const first = open();
await first.runner.start({ task: 'Cut the leather for a boot.' }, { runId: 'boot-1' });
const approvalId = await question;
await first.runner.close();
await first.store.close();
console.log('before the answer:', done.join(', '));

// Another process continues the run. It does not repeat the requests and calls that are in the log.
const second = open();
await second.runner.signal('boot-1', approvalSignal(approvalId), { decision: 'allow' });
console.log(await second.runner.result('boot-1'));
console.log('in all:', done.join(', '), `(${agent.requests.length} requests)`);
await second.runner.close();
await second.store.close();
rmSync(folder, { recursive: true });
