/** A server whose streams are measured. */
export interface Subject {
  readonly url: string;
  readonly token: string;
  /** Where its stream is. */
  readonly path: string;
  /** Writes one frame to all who watch it. */
  tell(): void;
}

/** What a frame shows: a few words, as a model says them. */
export const frameText = 'a few words as they come from the model, and ';
