import { WorkflowEntrypoint } from 'cloudflare:workers';
import type { WorkflowParams, WorkflowStep } from '@cobbler/assistant/cloudflare';
import type { Env } from './env.ts';
import type { WorkerHandler } from './worker.ts';
import { handlerOf, work } from './worker.ts';

/** Works on one arrival after another of one chat, whatever dies meanwhile. */
export class AssistantWorkflow extends WorkflowEntrypoint<Env> {
  async run({ payload }: { readonly payload: WorkflowParams }, step: WorkflowStep): Promise<void> {
    await work(this.env, payload, step);
  }
}

const handler: WorkerHandler = handlerOf();

export default handler;
