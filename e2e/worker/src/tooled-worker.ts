import { WorkflowEntrypoint } from 'cloudflare:workers';
import { defineTool } from '@cobbler/agent';
import type { WorkflowParams, WorkflowStep } from '@cobbler/assistant/cloudflare';
import type { Env } from '../../../apps/worker/src/env.ts';
import type { WorkerHandler } from '../../../apps/worker/src/worker.ts';
import { handlerOf, work } from '../../../apps/worker/src/worker.ts';

/** The app with tools, whose runs are counted outside. */
interface TooledEnv extends Env {
  readonly COUNTER: string;
}

function toolsOf({ COUNTER }: TooledEnv) {
  const counted = (name: string, effect: 'read' | 'once') =>
    defineTool({
      name,
      description: `${name}s something.`,
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      effect,
      subject: ({ text }) => String(text),
      async execute({ text }) {
        await fetch(COUNTER, { method: 'POST', body: JSON.stringify({ add: name, text: String(text) }) });
        return `did ${name} ${String(text)}`;
      },
    });
  return [counted('look', 'read'), counted('note', 'once')];
}

export class AssistantWorkflow extends WorkflowEntrypoint<TooledEnv> {
  async run({ payload }: { readonly payload: WorkflowParams }, step: WorkflowStep): Promise<void> {
    await work(this.env, payload, step, { tools: toolsOf(this.env) });
  }
}

const handler: WorkerHandler = handlerOf();

export default handler;
