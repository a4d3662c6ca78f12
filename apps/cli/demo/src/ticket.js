import { prices } from './prices.js';

/** What a ticket comes to, in cents. A job has a kind and a count: a pair of heels counts twice. */
export function total(jobs) {
  let cents = 0;
  for (const job of jobs) cents += prices[job.kind];
  return cents;
}
