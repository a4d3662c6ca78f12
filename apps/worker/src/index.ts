import { WorkflowEntrypoint } from 'cloudflare:workers';
import type { WorkflowParams, WorkflowStep } from '@cobbler/assistant/cloudflare';
import type { Env } from './env.ts';
import type { WorkerHandler } from './worker.ts';
import { handlerOf, work } from './worker.ts';

/** Processes the incoming messages of one chat one after another, and survives crashes. */
export class AssistantWorkflow extends WorkflowEntrypoint<Env> {
  async run({ payload }: { readonly payload: WorkflowParams }, step: WorkflowStep): Promise<void> {
    await work(this.env, payload, step);
  }
}

const handler: WorkerHandler = handlerOf();

export default handler;
