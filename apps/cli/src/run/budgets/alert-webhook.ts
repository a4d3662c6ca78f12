import type { BudgetAlert } from '@cobbler/agent/budgets';
import { defined } from '@cobbler/agent/values';

/** Maximum time of a request, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Sends an alert to the address in the configuration. Returns the problem if it was not accepted; this names only the host,
 * because the path and query of the address can be secret.
 */
export async function sendAlert(address: string, alert: BudgetAlert): Promise<string | undefined> {
  const { endsAt, ...rest } = alert;
  const until = endsAt === undefined ? undefined : new Date(endsAt).toISOString();
  const problem = (reason: string) =>
    `The alert of budget ${JSON.stringify(alert.budget)} could not be sent: ${new URL(address).host} ${reason}.`;
  try {
    const { ok, status, body } = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'budget_alert', ...rest, ...defined({ until }) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await body?.cancel();
    return ok ? undefined : problem(`responded with ${status}`);
  } catch {
    return problem('did not respond');
  }
}
