import type { Options } from '../values/provider-metadata.ts';
import { isIdAlone, mergedOptions, sealOf } from '../values/provider-metadata.ts';
import type { SinkCall } from '../values/sink-call.ts';

export type AttachmentKind = 'text' | 'reasoning' | 'call';

/** A block of a response that is still streaming. */
export interface AttachmentBlock {
  readonly kind: AttachmentKind;
  readonly at: string;
  /** The provider data attached so far. */
  options: Options | undefined;
  /** Number of UTF-16 code units received. */
  size: number;
  /** The preceding reasoning block. */
  readonly thought: AttachmentBlock | undefined;
  /** For reasoning: the data attached to the texts after it. */
  readonly texts: Options[];
}

/**
 * Collects the data that a provider attaches to blocks of a response and expects back. A text part has no field for
 * it, so its data is stored in the reasoning before it, or in a separate part after it. Ids are useful only with
 * reasoning, because the service then looks for the items that follow; without reasoning they are omitted.
 */
export class Attachments {
  #thought: AttachmentBlock | undefined;

  begin(kind: AttachmentKind, at: string): AttachmentBlock {
    const block: AttachmentBlock = {
      kind,
      at,
      options: undefined,
      size: 0,
      thought: this.#thought,
      texts: [],
    };
    if (kind === 'reasoning') this.#thought = block;
    return block;
  }

  /** Adds metadata. It arrives in several parts, and each may be the last. */
  add(block: AttachmentBlock, metadata: unknown): SinkCall[] {
    block.options = mergedOptions(block.options, metadata);
    if (block.kind === 'text' || (block.kind === 'call' && !isNeeded(block))) return [];
    return [{ say: 'seal', at: block.at, data: sealOf(block.kind, block.options, block.texts) }];
  }

  /** Completes a block, to which nothing is added afterwards. */
  close(block: AttachmentBlock): SinkCall[] {
    const { kind, options, size, thought } = block;
    if (kind !== 'text' || options === undefined || size === 0 || !isNeeded(block)) return [];
    if (thought === undefined)
      return [{ say: 'seal', at: `${block.at} attached`, data: sealOf('text', options) }];
    thought.texts.push(options);
    return [{ say: 'seal', at: thought.at, data: sealOf('reasoning', thought.options ?? {}, thought.texts) }];
  }
}

function isNeeded({ thought, options }: AttachmentBlock): boolean {
  return thought !== undefined || !isIdAlone(options ?? {});
}
