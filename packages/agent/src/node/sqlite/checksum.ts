import { crc32 } from 'node:zlib';

/**
 * Returns the checksum of a string stored at one place: a string that was moved to another place does not match there.
 * It detects every flipped bit, every burst of up to 32 changed bits, and other damage except for one case in 2^32. It
 * protects against disk and memory faults, not against deliberate changes to the file.
 * @param place what the string belongs to, such as a session and the number of an event
 */
export function checksum(place: string, text: string): number {
  // Signed, because SQLite stores such a number in four bytes.
  return crc32(text, crc32(place)) | 0;
}

/** Returns true if a string is intact, or was stored by a version without checksums. */
export function isIntact(sum: number | null, place: string, text: string): boolean {
  return sum === null || sum === checksum(place, text);
}

/** Returns the seed of the checksums of a session's events, for {@link eventChecksum}. */
export function eventSeed(sessionId: string): number {
  return crc32(`${sessionId} event `);
}

/** Returns the checksum of an event. Multiplication by an odd factor gives every position in a session a different seed. */
export function eventChecksum(seed: number, seq: number, json: string): number {
  return crc32(json, (seed ^ Math.imul(seq, 0x9e3779b1)) >>> 0) | 0;
}

/** Returns the label of a session's statistics, for {@link checksum}. */
export function statsLabel(sessionId: string): string {
  return `${sessionId} tally `;
}
