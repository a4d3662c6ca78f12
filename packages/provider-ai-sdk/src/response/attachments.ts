import type { Options } from '../values/provider-metadata.ts';
import { isIdAlone, mergedOptions, sealOf } from '../values/provider-metadata.ts';
import type { SinkCall } from '../values/sink-call.ts';

export type AttachmentKind = 'text' | 'reasoning' | 'call';

/** A block of the answer while it streams. */
export interface AttachmentBlock {
  readonly kind: AttachmentKind;
  readonly at: string;
  /** The provider data attached so far. */
  options: Options | undefined;
  /** UTF-16 units received. */
  size: number;
  /** The thought before it. */
  readonly thought: AttachmentBlock | undefined;
  /** For reasoning: data attached to the texts after it. */
  readonly texts: Options[];
}

/**
 * Data that a provider attaches to blocks of a response and expects back. Text has no metadata: its data goes to the
 * reasoning before it, or into a part of its own after it. Ids are useful only together with reasoning, whose service
 * looks for the following items; without it they are omitted.
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

  /** Metadata comes in several pieces, and each may be the last. */
  add(block: AttachmentBlock, metadata: unknown): SinkCall[] {
    block.options = mergedOptions(block.options, metadata);
    if (block.kind === 'text' || (block.kind === 'call' && !isNeeded(block))) return [];
    return [{ say: 'seal', at: block.at, data: sealOf(block.kind, block.options, block.texts) }];
  }

  /** Nothing is added to the block after this. */
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
