import type { Frame, ProviderTesting, ResponseReply } from '@cobbler/agent/testing';

/** Returns whether the frames of a wire are bytes instead of text. */
export function isBinary({ frame }: Pick<ProviderTesting, 'frame'>): boolean {
  return typeof frame('{}') !== 'string';
}

/** Returns a change of the text of each frame. In a binary frame, it changes the payload, so that length and checksum fit. */
export function inText(
  { frame }: Pick<ProviderTesting, 'frame'>,
  change: (text: string, index: number) => string,
): NonNullable<ResponseReply['rewrite']> {
  return (sent, index, payload): Frame => {
    if (typeof sent === 'string') return change(sent, index);
    return frame(change(typeof payload === 'string' ? payload : JSON.stringify(payload), index));
  };
}

const lineEnds: ReadonlySet<number> = new Set([10, 13, 32]);

/** Returns the text without the line breaks and blanks at its end. */
export function withoutLineEnd(text: Uint8Array): Uint8Array {
  return text.subarray(0, text.findLastIndex((byte) => !lineEnds.has(byte)) + 1);
}
