import { AgentError, systemRuntime } from '@cobbler/agent';
import type { WorkflowParams, WorkflowStep } from '@cobbler/assistant/cloudflare';
import { runWorkflow } from '@cobbler/assistant/cloudflare';
import { setWebhook } from '@cobbler/assistant/telegram';
import { serveAudit } from './audit.ts';
import type { Env } from './env.ts';
import type { Additions, WorkerParts } from './parts.ts';
import { partsOf, report } from './parts.ts';
import { text } from './text-response.ts';
import { takeUpdate } from './webhook.ts';

/** The default export of a module worker. */
export interface WorkerHandler {
  fetch(request: Request, env: Env): Promise<Response>;
  scheduled(event: unknown, env: Env): Promise<void>;
}

const routes: Readonly<Record<string, (request: Request, parts: WorkerParts) => Promise<Response>>> = {
  'POST /telegram': takeUpdate,
  'GET /audit': (request, { sql, settings }) => serveAudit(request, sql, settings.auditToken),
};

/** Creates the handlers of the worker. */
export function handlerOf(additions: Additions = {}): WorkerHandler {
  return {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (request.method === 'GET' && pathname === '/') return text('This is a chat assistant.', 200);
      const route = routes[`${request.method} ${pathname}`];
      if (route === undefined) return text('not found', 404);
      const parts = validParts(env, additions);
      return parts === undefined ? text('not set up', 500) : await route(request, parts);
    },
    async scheduled(_, env) {
      const parts = validParts(env, additions);
      if (parts !== undefined) await upkeep(env, parts, systemRuntime.now());
    },
  };
}

/** Runs a Workflow instance. */
export async function work(
  env: Env,
  params: WorkflowParams,
  step: WorkflowStep,
  additions: Additions = {},
): Promise<void> {
  const { assistant, sql, flush } = partsOf(env, additions);
  // After each call, because the engine can end this Worker while the workflow waits for a user.
  const workflow: typeof assistant.workflow = (...call) => assistant.workflow(...call).finally(flush);
  await runWorkflow({ params, step, workflow, sql, binding: env.TURNS });
}

/** Returns the parts; undefined if a setting is wrong. Only the log says which one, not the response. */
function validParts(env: Env, additions: Additions): WorkerParts | undefined {
  try {
    return partsOf(env, additions);
  } catch (thrown) {
    report(AgentError.from(thrown), 'settings');
    return undefined;
  }
}

/** Retention period of finished data in milliseconds: longer than Telegram repeats an update. */
const keptMs = 30 * 86_400_000;

/** Age after which an unfinished turn is checked, in milliseconds. */
const untouchedMs = 600_000;

/** Runs the scheduled tasks. One failing task does not prevent the others. */
async function upkeep(env: Env, parts: WorkerParts, now: number): Promise<void> {
  const { runner, outbox, turns } = parts;
  const before = now - keptMs;
  const chores: Readonly<Record<string, () => Promise<unknown>>> = {
    'unfinished runs': () => runner.sweep(untouchedMs),
    'old runs': () => runner.prune(before),
    'old messages': () => outbox.prune(before),
    'old turns': () => turns.pruneTurns(before),
    webhook: () => checkWebhook(env, parts),
  };
  for (const [name, chore] of Object.entries(chores)) {
    try {
      await chore();
    } catch (thrown) {
      report(AgentError.from(thrown), `upkeep: ${name}`);
    }
  }
}

/** Sets the webhook if its address is known and it is not set; otherwise logs the last error of Telegram. */
async function checkWebhook(
  { WEBHOOK_URL: wanted = '' }: Env,
  { api, settings }: WorkerParts,
): Promise<void> {
  const { url, last_error_message: trouble } = await api.raw.getWebhookInfo();
  if (wanted !== '' && url !== wanted) return await setWebhook(api, { url: wanted, secret: settings.secret });
  if (url === '')
    throw webhookError(
      'no webhook is set, so no messages arrive. docs/cloudflare.md explains how to set one.',
    );
  if (trouble !== undefined) throw webhookError(`Telegram recently failed to deliver updates: ${trouble}`);
}

function webhookError(message: string): AgentError {
  return new AgentError({ kind: 'network', code: 'webhook', message });
}
