import type { BlockKind, Options } from '../values/provider-metadata.ts';
import { isIdAlone, mergedOptions, sealOf } from '../values/provider-metadata.ts';
import type { SinkCall } from '../values/sink-call.ts';

/** A block of a response. */
export interface SdkBlock {
  readonly kind: BlockKind;
  /** The SDK's id of the part. Services reuse ids of parts that have ended. */
  readonly id: string;
  readonly at: string;
  /** The text, the reasoning or the arguments so far. */
  text: string;
  isOpen: boolean;
  /** The provider data attached so far. */
  options: Options | undefined;
  /** The preceding reasoning block. */
  readonly thought: SdkBlock | undefined;
  /** For reasoning: the data attached to the texts after it. */
  readonly texts: Options[];
}

/**
 * Adds data that a provider attaches to a block and expects back. It arrives in several parts, and each may be the
 * last. A text part has no field for it, so its data is stored in the reasoning before it, or in a separate part after
 * it. Ids are useful only with reasoning, because the service then looks for the items that follow; without reasoning
 * they are omitted.
 */
export function attachMetadata(block: SdkBlock, metadata: unknown): SinkCall[] {
  block.options = mergedOptions(block.options, metadata);
  if (block.kind === 'text' || (block.kind === 'call' && !isNeeded(block))) return [];
  return [['seal', block.at, sealOf(block.kind, block.options, block.texts)]];
}

/** Stores the data of a text that is complete. */
export function attachedText(block: SdkBlock): SinkCall[] {
  const { at, kind, options, text, thought } = block;
  if (kind !== 'text' || options === undefined || text === '' || !isNeeded(block)) return [];
  if (thought === undefined) return [['seal', `${at} attached`, sealOf(kind, options)]];
  thought.texts.push(options);
  return [['seal', thought.at, sealOf('reasoning', thought.options, thought.texts)]];
}

function isNeeded({ thought, options }: SdkBlock): boolean {
  return thought !== undefined || !isIdAlone(options);
}
