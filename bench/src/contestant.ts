/** The model's address for a contestant. */
export interface Target {
  /** Base URL without `/v1`. */
  readonly url: string;
  /** Maximum number of requests in one run. */
  readonly turns: number;
}

/** The outcome of one run, as reported by the contestant. */
export interface Outcome {
  /** Number of responses received. */
  readonly turns: number;
  /** Number of tool calls executed. */
  readonly toolCalls: number;
  /** Number of text characters that the subscriber received, delta by delta. */
  readonly shown: number;
  /** The last response. */
  readonly text: string;
}

/** A library or program that runs a model with tools, ready for prompts. */
export interface Contestant {
  /** Runs one prompt; several can run at the same time. */
  run(prompt: string): Promise<Outcome>;
}

/** Creates a contestant. Each has its own module, which loads only what it needs. */
export type OpenContestant = (target: Target) => Contestant;

/** The contestants. */
export type ContestantName = 'floor' | 'floor-with-sdk' | 'anthropic-sdk' | 'ai-sdk' | 'cobbler';
