/** A server whose streams are measured. */
export interface Subject {
  readonly url: string;
  readonly token: string;
  /** The path of its stream. */
  readonly path: string;
  /** Sends one frame to all readers. */
  tell(): void;
}

/** The text of a frame: a few words, as in a model's response. */
export const frameText = 'a few words as they come from the model, and ';
