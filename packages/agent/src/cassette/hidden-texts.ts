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
    const isKnown = (hash: string | undefined) => hash === undefined || this.#texts.has(hash);
    if (changes?.every(({ before, after }) => isKnown(before) && isKnown(after)) !== true) return undefined;
    const text = (hash = '') => this.#texts.get(hash);
    return changes.map((change) => ({ ...change, before: text(change.before), after: text(change.after) }));
  }

  /** The change may be anything: the run checks it. */
  async #hidden(change: unknown): Promise<unknown> {
    if (!isObject(change)) return change;
    const hidden = { ...change };
    for (const name of ['before', 'after']) {
      const text = hidden[name];
      if (typeof text !== 'string') continue;
      const hash = await systemRuntime.digest(text);
      this.#texts.set(hash, text);
      hidden[name] = hash;
    }
    return hidden;
  }
}
