import type { End } from '../events/backend-event.ts';

/** Words by which seed S1 knows a failure that may pass, for failures without a status. */
const words = /500|529|api_error|overloaded|rate_limit/i;

/** The message to users when such a failure persists. A fixed text. */
export const friendlyText = 'The AI service is temporarily unavailable. Please try again in a moment.';

/** True if a retry may help: by the status if there is one. */
export function isTransient({ ok, error, text = '' }: End): boolean {
  if (ok || error === undefined) return false;
  if (error.status !== undefined || error.kind === 'limit' || error.kind === 'aborted')
    return error.retryable === true;
  return error.kind === 'network' || words.test(text === '' ? error.message : text);
}
