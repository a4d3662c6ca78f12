import type { Options } from './seal.ts';
import { isIdAlone, mergedOptions, sealOf } from './seal.ts';
import type { Word } from './word.ts';

export type Kind = 'text' | 'reasoning' | 'call';

/** A block of the answer while it streams. */
export interface Block {
  readonly kind: Kind;
  readonly at: string;
  /** What the provider attached to it so far. */
  options: Options | undefined;
  /** How many UTF-16 units of it have come. */
  size: number;
  /** The thought before it. */
  readonly thought: Block | undefined;
  /** Of a thought: what is attached to the texts behind it. */
  readonly texts: Options[];
}

/**
 * What a provider attaches to the blocks of an answer and wants back with them. A text takes no seal: what belongs to
 * it goes with the thought that it follows, or stands behind it as a part of its own. Ids alone are of use only
 * together with a thought, whose service looks for what the thought led to; without one they are left out.
 */
export class Attachments {
  #thought: Block | undefined;

  begin(kind: Kind, at: string): Block {
    const block: Block = { kind, at, options: undefined, size: 0, thought: this.#thought, texts: [] };
    if (kind === 'reasoning') this.#thought = block;
    return block;
  }

  /** Metadata comes in several pieces, and each may be the last. */
  add(block: Block, metadata: unknown): Word[] {
    block.options = mergedOptions(block.options, metadata);
    if (block.kind === 'text' || (block.kind === 'call' && !isNeeded(block))) return [];
    return [{ say: 'seal', at: block.at, data: sealOf(block.kind, block.options, block.texts) }];
  }

  /** Nothing is added to the block after this. */
  close(block: Block): Word[] {
    const { kind, options, size, thought } = block;
    if (kind !== 'text' || options === undefined || size === 0 || !isNeeded(block)) return [];
    if (thought === undefined)
      return [{ say: 'seal', at: `${block.at} attached`, data: sealOf('text', options) }];
    thought.texts.push(options);
    return [{ say: 'seal', at: thought.at, data: sealOf('reasoning', thought.options ?? {}, thought.texts) }];
  }
}

function isNeeded({ thought, options }: Block): boolean {
  return thought !== undefined || !isIdAlone(options ?? {});
}
