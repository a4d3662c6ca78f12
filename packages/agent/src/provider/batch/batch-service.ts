import type { JsonObject } from '../../values/json.ts';
import type { BatchHttp } from './batch-http.ts';

/** A request in a batch. */
export interface BatchEntry {
  /** A unique id of letters, digits, `_` and `-`. */
  readonly id: string;
  /** The body of the streaming request. */
  readonly body: JsonObject;
}

/**
 * The response to one request of a batch, as the service would have sent it without a batch: the events of a stream that
 * contains the whole response, or the status and body of an error.
 */
export type BatchOutcome =
  | { readonly events: readonly unknown[] }
  | { readonly status: number; readonly error: unknown };

/** The HTTP requests of a provider's batches. */
export interface BatchService {
  /** Creates a batch and returns its id. */
  submit(entries: readonly BatchEntry[], http: BatchHttp): Promise<string>;
  /** Returns a function that finds the outcome of an entry by its id; undefined while the batch is being processed. */
  outcomes(batch: string, http: BatchHttp): Promise<FindOutcome | undefined>;
  /** Asks the service to stop processing a batch. */
  cancel(batch: string, http: BatchHttp): Promise<void>;
}

/** Finds the outcome of an entry by its id. An entry without one fails. */
export type FindOutcome = (id: string) => BatchOutcome | undefined;
