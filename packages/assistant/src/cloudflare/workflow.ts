/** As much of a binding to a Workflow as is used: https://developers.cloudflare.com/workflows/build/workers-api/ */
export interface WorkflowBinding {
  /** Rejects with `instance.already_exists` for an id that was used before. */
  create(options: { readonly id: string; readonly params: WorkflowParams }): Promise<unknown>;
  /** Rejects with `instance.not_found` for an id that was not. */
  get(id: string): Promise<WorkflowInstance>;
}

/** The input of an instance. The rest is in the database: this must stay small. */
export interface WorkflowParams {
  readonly runId: string;
}

/** As much of an instance, seen from outside, as is used. */
export interface WorkflowInstance {
  status(): Promise<{ readonly status: string }>;
  sendEvent(event: { readonly type: string; readonly payload: unknown }): Promise<void>;
}

/** As much of what an instance's `run` is given as is used. */
export interface WorkflowStep {
  do<Value>(name: string, config: WorkflowStepConfig, perform: () => Promise<Value>): Promise<Value>;
  /** Rejects when the time, in milliseconds, is over. */
  waitForEvent(name: string, options: { readonly type: string; readonly timeout: number }): Promise<unknown>;
}

/** Number of attempts of a step and their time limit; times in milliseconds. */
export interface WorkflowStepConfig {
  readonly retries: {
    readonly limit: number;
    readonly delay: number;
    readonly backoff: 'constant' | 'linear' | 'exponential';
  };
  /** For one attempt, in milliseconds. */
  readonly timeout: number;
}
