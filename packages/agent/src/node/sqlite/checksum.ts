import { crc32 } from 'node:zlib';

/**
 * The checksum of a text that is stored at one place: a text that was moved to another place does not match there.
 * Every single flipped bit and every run of up to 32 changed bits is noticed, and other damage except for one case in
 * 2^32. It protects against faults of disks and memory, not against a person who changes the file on purpose.
 * @param place what the text belongs to, such as a session and the number of an event
 */
export function checksum(place: string, text: string): number {
  // Signed, because SQLite stores that in four bytes.
  return crc32(text, crc32(place)) | 0;
}

/** True when a text is what was stored, or was stored by a version without checksums. */
export function isIntact(sum: number | null, place: string, text: string): boolean {
  return sum === null || sum === checksum(place, text);
}

/** What the checksums of a session's events begin with, for {@link eventChecksum}. */
export function eventSeed(sessionId: string): number {
  return crc32(`${sessionId} event `);
}

/** The checksum of an event. Two places of a session never have the same: one odd factor gives each a seed of its own. */
export function eventChecksum(seed: number, seq: number, json: string): number {
  return crc32(json, (seed ^ Math.imul(seq, 0x9e3779b1)) >>> 0) | 0;
}

/** Where the tally of a session is stored. */
export function tallyPlace(sessionId: string): string {
  return `${sessionId} tally `;
}
