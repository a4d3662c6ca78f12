import type { RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { visibleJson } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import type { RunDisplay } from './run-view.ts';

/**
 * Shows a run to a program: one event per line, the stored ones as they are stored, before them `started`, and last
 * `finished`, which has no `seq` where it could not be stored. With `deltas` also the live events, which have none.
 */
export class JsonView implements RunDisplay {
  readonly #out: Output;
  readonly #deltas: boolean;

  constructor(out: Output, deltas: boolean) {
    this.#out = out;
    this.#deltas = deltas;
  }

  event(event: RunEvent): void {
    const isShown = isStored(event) || event.type === 'started' || event.type === 'finished';
    if (!isShown && !this.#deltas) return;
    this.#out.write(`${visibleJson(JSON.stringify({ v: 1, ...event }))}\n`);
  }

  stopping(): void {}

  key(): void {}

  end(): void {}
}
