import type { Blobs } from '../interfaces/blobs.ts';
import type { Deck } from './ports.ts';

/**
 * Blobs for a taped run. What they hold follows from the run, so nothing of it is on the tape; only does nothing
 * else come in while they are at work, because how long that takes is no part of the run.
 */
export function tapedBlobs(deck: Deck, blobs: Blobs): Blobs {
  return {
    put: (id, bytes) => waited(deck, blobs.put(id, bytes)),
    get: (id, range) => waited(deck, blobs.get(id, range)),
  };
}

function waited<Value>(deck: Deck, work: Value | Promise<Value>): Value | Promise<Value> {
  return work instanceof Promise ? deck.during(work) : work;
}
