/** Where a contestant finds the model. */
export interface Target {
  /** Base URL without `/v1`. */
  readonly url: string;
  /** Most requests of one run. */
  readonly turns: number;
}

/** How one run went, as the contestant itself saw it. */
export interface Outcome {
  /** Answers received. */
  readonly turns: number;
  /** Tools run. */
  readonly toolCalls: number;
  /** Characters of text that the subscriber was shown, delta by delta. */
  readonly shown: number;
  /** The last answer. */
  readonly text: string;
}

/** One way to run a model with tools, ready to be asked. */
export interface Contestant {
  /** Runs one prompt to its end; several may be under way at once. */
  run(prompt: string): Promise<Outcome>;
}

/** Makes a contestant. Each has a module of its own, which loads what it needs and nothing else. */
export type OpenContestant = (target: Target) => Contestant;

/** Who takes part. */
export type ContestantName = 'floor' | 'floor-with-sdk' | 'anthropic-sdk' | 'ai-sdk' | 'cobbler';
