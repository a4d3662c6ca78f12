/** What a Cobbler process of the proof is started with, as JSON in its first argument. */
export interface Settings {
  readonly name: string;
  readonly database: string;
  readonly ingress: readonly string[];
  readonly admin: readonly string[];
  /** Where the engine finds all of them. */
  readonly address: string;
  /** File that every run of the tool adds a line to. */
  readonly effects: string;
}

/** What a process says when it is ready: where the engine's connections go, and where its own clients do. */
export interface Ready {
  readonly engine: string;
  readonly api: string;
}
