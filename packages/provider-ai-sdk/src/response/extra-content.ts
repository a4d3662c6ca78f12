import type { Fields } from '../values/fields.ts';
import { fieldsOf, listIn, textIn } from '../values/fields.ts';

/** The provider name and the field of {@link ExtraContent} in the data of a call. */
export const extraPlace = { provider: 'openaiCompatible', field: 'extra_content' } as const;

/**
 * The `extra_content` of the calls of a response. Services that are compatible with Chat Completions, such as Gemini, send
 * it and reject a conversation without it. The SDK's OpenAI provider drops it, so it is read from the raw events.
 */
export class ExtraContent {
  readonly #ids = new Map<unknown, string>();
  readonly #extras = new Map<string, Fields>();

  /** Reads an event. Only the first chunk of a call has its id. */
  read({ choices }: Fields): void {
    for (const choice of listIn(choices).map(fieldsOf))
      for (const chunk of listIn(fieldsOf(choice['delta'])['tool_calls']).map(fieldsOf)) {
        const id = textIn(chunk['id']) || this.#ids.get(chunk['index']);
        if (id === undefined) continue;
        this.#ids.set(chunk['index'], id);
        const extra = fieldsOf(chunk[extraPlace.field]);
        if (Object.keys(extra).length > 0) this.#extras.set(id, { ...this.#extras.get(id), ...extra });
      }
  }

  /** Returns the data of a call as provider metadata; undefined if there is none. */
  metadataOf(id: string): unknown {
    const extra = this.#extras.get(id);
    return extra === undefined ? undefined : { [extraPlace.provider]: { [extraPlace.field]: extra } };
  }
}
