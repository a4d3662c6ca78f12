import { isErrorKind } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, any, count, flag, listOf, readUsage, record, text, when } from '../values/input.ts';
import type { RequestUsage, TriedModel } from '../values/stored-values.ts';
import { noUsage } from '../values/usage.ts';

/** The cost of requests that the loop of a run did not send itself, for the log of the run that they were sent for. */
export interface Spending {
  /** What sent them, such as `delegate` or `tool`: see `SpentEvent`. */
  readonly who: string;
  readonly spent: RequestUsage;
  readonly provider?: string;
  readonly model?: string;
  /** The id of their reservation in a budget store. */
  readonly reservation?: string;
  /** The log that also contains them. */
  readonly log?: { readonly store: object; readonly sessionId: string };
}

/** Reads what a model that was asked first has used. */
export const readTriedModel: Reader<TriedModel> = record<TriedModel>(
  {
    ...{ provider: text, model: text, kind: when(isErrorKind, 'the kind of an error'), message: text },
    ...{ code: text, skipped: flag, attempts: count, wasted: readUsage, usd: amount, unpriced: flag },
  },
  ['provider', 'model', 'kind', 'message'],
);

/** Reads what requests cost. */
export const readSpending: Reader<Spending> = record<Spending>(
  {
    ...{ who: text, provider: text, model: text, reservation: text, log: any },
    spent: record<RequestUsage>(
      {
        usage: readUsage,
        wasted: readUsage,
        attempts: count,
        durationMs: amount,
        usd: amount,
        answers: count,
        tried: listOf(readTriedModel),
      },
      ['usage', 'wasted', 'attempts', 'durationMs'],
    ),
  },
  ['who', 'spent'],
);

/** Receives what was charged to a budget. Returns true if no budget above needs to record it. */
export type Recorder = (spending: Spending, tokens: number, usd: number) => boolean;

/** Returns the description of amounts of which nothing else is known. Without an amount of money, the price is unknown. */
export function unnamedSpending(tokens: number, usd: number): Spending {
  const usage = { inputTokens: tokens, outputTokens: 0, estimated: true };
  const spent = { usage, wasted: noUsage, attempts: 1, durationMs: 0 };
  return { who: 'tool', spent: usd > 0 ? { ...spent, usd } : spent };
}
