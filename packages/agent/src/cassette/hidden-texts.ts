import type { PlannedChange, ToolPreview } from '../interfaces/tool.ts';
import { isObject } from '../values/json.ts';
import { systemRuntime } from '../values/runtime.ts';

/**
 * The texts of planned changes. A recording contains their SHA-256 hashes instead, because whole files would make it long, and
 * a text without its secrets would not be the one that the user allowed.
 */
export class HiddenTexts {
  readonly #texts = new Map<string, string>();

  /** Returns a preview with hashes in place of the texts. */
  async hide(preview: ToolPreview | undefined): Promise<ToolPreview> {
    const { changes, ...rest } = preview ?? {};
    if (!Array.isArray(changes)) return preview ?? {};
    const hidden = await Promise.all(changes.map((change) => this.#hidden(change)));
    return { ...rest, changes: hidden as PlannedChange[] };
  }

  /** Returns changes with their texts. Undefined if they are of another process, which a replay is. */
  show(changes: readonly PlannedChange[] | undefined): readonly PlannedChange[] | undefined {
    const shown = changes?.map((change) => ({
      ...change,
      before: change.before && this.#texts.get(change.before),
      after: change.after && this.#texts.get(change.after),
    }));
    const isKnown = (change: PlannedChange, index: number) =>
      (change.before === undefined) === (changes?.[index]?.before === undefined) &&
      (change.after === undefined) === (changes?.[index]?.after === undefined);
    return shown?.every(isKnown) === true ? shown : undefined;
  }

  /** The change may be anything: the run checks it. */
  async #hidden(change: unknown): Promise<unknown> {
    if (!isObject(change)) return change;
    const { before, after } = change;
    return { ...change, ...(await this.#hash({ before, after })) };
  }

  async #hash(texts: Readonly<Record<string, unknown>>): Promise<object> {
    const hashes: Record<string, string> = {};
    for (const [name, text] of Object.entries(texts)) {
      if (typeof text !== 'string') continue;
      const hash = await systemRuntime.digest(text);
      this.#texts.set(hash, text);
      hashes[name] = hash;
    }
    return hashes;
  }
}
