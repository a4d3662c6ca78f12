import type { Reader } from '@cobbler/agent/input';
import { record, text, when, withMethods } from '@cobbler/agent/input';

/** The part of a Workflow binding that is used: https://developers.cloudflare.com/workflows/build/workers-api/ */
export interface WorkflowBinding {
  /** Rejects with `instance.already_exists` for an id that was used before. */
  create(options: { readonly id: string; readonly params: WorkflowParams }): Promise<unknown>;
  /** Rejects with `instance.not_found` for an unknown id. */
  get(id: string): Promise<WorkflowInstance>;
}

/** The input of an instance. It must stay small; all other data is in the database. */
export interface WorkflowParams {
  readonly runId: string;
}

/** The part of an instance that is used from outside. */
export interface WorkflowInstance {
  status(): Promise<{ readonly status: string }>;
  sendEvent(event: { readonly type: string; readonly payload: unknown }): Promise<void>;
}

/** The part of the argument of an instance's `run` that is used. */
export interface WorkflowStep {
  do<Value>(name: string, config: WorkflowStepConfig, perform: () => Promise<Value>): Promise<Value>;
  /** Rejects after the timeout in milliseconds. */
  waitForEvent(name: string, options: { readonly type: string; readonly timeout: number }): Promise<unknown>;
}

/** Number of attempts of a step and their time limit; times in milliseconds. */
export interface WorkflowStepConfig {
  readonly retries: {
    readonly limit: number;
    readonly delay: number;
    readonly backoff: 'constant' | 'linear' | 'exponential';
  };
  /** Time limit of one attempt, in milliseconds. */
  readonly timeout: number;
}

/** Reads a binding. */
export const readBinding: Reader<WorkflowBinding> = withMethods('create', 'get');

/** Reads the payload of an instance. */
export const readParams: Reader<WorkflowParams> = record<WorkflowParams>({ runId: text }, ['runId']);

/** Reads the steps of an instance. The engine passes a stub of a remote object, which is a function. */
export const readSteps: Reader<WorkflowStep> = when(
  (value) =>
    ['object', 'function'].includes(typeof value) &&
    (['do', 'waitForEvent'] as const).every((name) => typeof (value as WorkflowStep)?.[name] === 'function'),
  'an object with the functions do and waitForEvent',
);
