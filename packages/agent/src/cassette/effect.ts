import { defined } from '../values/defined.ts';
import type { JsonObject } from '../values/json.ts';
import type { Deck } from './ports.ts';
import { thrownData, thrownFrom } from './thrown.ts';

/** Something that happens once, outside the run, and comes to something. */
export interface Effect<Value> {
  run(): unknown;
  /** What it came to, as data. */
  write(value: unknown): JsonObject;
  read(data: JsonObject): Value;
  /** Whether the run still waits for it. */
  awaited?(): boolean;
}

/** Lets an effect happen, or lets it come in as it was recorded. Rejects with the like of what it threw. */
export function taped<Value>(deck: Deck, name: string, effect: Effect<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const port = deck.open(name, {
      ...defined({ awaited: effect.awaited }),
      take(data) {
        port.close();
        if ('thrown' in data) reject(thrownFrom(data['thrown']));
        else resolve(effect.read(data));
      },
      fail(error) {
        port.close();
        reject(error);
      },
      start(put) {
        const failed = (thrown: unknown) => put({ thrown: thrownData(thrown) });
        Promise.resolve()
          .then(() => effect.run())
          .then((value) => effect.write(value))
          .then(put, failed);
      },
    });
  });
}
