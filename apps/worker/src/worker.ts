import { AgentError, systemRuntime } from '@cobbler/agent';
import type { WorkflowParams, WorkflowStep } from '@cobbler/assistant/cloudflare';
import { runWorkflow } from '@cobbler/assistant/cloudflare';
import type { Env } from './env.ts';
import type { Additions, WorkerParts } from './parts.ts';
import { partsOf, report } from './parts.ts';
import { upkeep } from './upkeep.ts';
import { takeUpdate, text } from './webhook.ts';

/** The default export of a module worker. */
export interface WorkerHandler {
  fetch(request: Request, env: Env): Promise<Response>;
  scheduled(event: unknown, env: Env): Promise<void>;
}

/** The worker's doors. */
export function handlerOf(additions: Additions = {}): WorkerHandler {
  return {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (request.method === 'GET' && pathname === '/') return text('This is a chat assistant.', 200);
      if (request.method !== 'POST' || pathname !== '/telegram') return text('not found', 404);
      const parts = wellSet(env, additions);
      return parts === undefined ? text('not set up', 500) : await takeUpdate(request, parts);
    },
    async scheduled(_, env) {
      const parts = wellSet(env, additions);
      if (parts !== undefined) await upkeep(env, parts, systemRuntime.now());
    },
  };
}

/** The work of a Workflow instance. */
export async function work(
  env: Env,
  params: WorkflowParams,
  step: WorkflowStep,
  additions: Additions = {},
): Promise<void> {
  const { assistant, sql } = partsOf(env, additions);
  await runWorkflow({ params, step, routine: assistant.routine, sql, workflow: env.TURNS });
}

/** External callers do not learn which setting is wrong; the log does. */
function wellSet(env: Env, additions: Additions): WorkerParts | undefined {
  try {
    return partsOf(env, additions);
  } catch (thrown) {
    report(AgentError.from(thrown), 'settings');
    return undefined;
  }
}
