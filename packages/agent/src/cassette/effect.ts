import { defined } from '../values/defined.ts';
import type { JsonObject } from '../values/json.ts';
import type { Ports } from './ports.ts';
import { thrownData, thrownFrom } from './thrown.ts';

/** An operation outside the run that produces one result. */
export interface Effect<Value> {
  run(): unknown;
  /** Converts the result to JSON data. */
  write(value: unknown): JsonObject;
  read(data: JsonObject): Value;
  /** Returns whether the run is still waiting for the result. */
  awaited?(): boolean;
}

/** Performs an effect and records its result, or replays that. If the effect threw, rejects with an equivalent error. */
export function runEffect<Value>(ports: Ports, name: string, effect: Effect<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const port = ports.open(name, {
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
