import { AgentError } from '@cobbler/agent';
import { setWebhook } from '@cobbler/assistant/telegram';
import type { Env } from './env.ts';
import type { WorkerParts } from './parts.ts';
import { report } from './parts.ts';

/** Retention of finished data, in milliseconds: longer than Telegram repeats an update. */
const keptMs = 30 * 86_400_000;

/** Age after which an unfinished turn is checked, in milliseconds. */
const untouchedMs = 600_000;

/** The scheduled tasks. One failing task does not prevent the others. */
export async function upkeep(env: Env, parts: WorkerParts, now: number): Promise<void> {
  const { runner, outbox, turns } = parts;
  const before = now - keptMs;
  const chores: Readonly<Record<string, () => Promise<unknown>>> = {
    'unfinished runs': () => runner.sweep(untouchedMs),
    'old runs': () => runner.prune(before),
    'old messages': () => outbox.prune(before),
    'old turns': () => turns.pruneTurns(before),
    webhook: () => seeToWebhook(env, parts),
  };
  for (const [name, chore] of Object.entries(chores)) {
    try {
      await chore();
    } catch (thrown) {
      report(AgentError.from(thrown), `upkeep: ${name}`);
    }
  }
}

/** Sets the webhook when it is known where it should lead and it does not; else says what Telegram has to say. */
async function seeToWebhook(
  { WEBHOOK_URL: wanted = '' }: Env,
  { api, settings }: WorkerParts,
): Promise<void> {
  const { url, last_error_message: trouble } = await api.raw.getWebhookInfo();
  if (wanted !== '' && url !== wanted) return await setWebhook(api, { url: wanted, secret: settings.secret });
  if (url === '')
    throw notWell('no webhook is set, so no messages arrive. docs/cloudflare.md explains how to set it.');
  if (trouble !== undefined) throw notWell(`Telegram recently failed to deliver updates: ${trouble}`);
}

function notWell(message: string): AgentError {
  return new AgentError({ kind: 'network', code: 'webhook', message });
}
