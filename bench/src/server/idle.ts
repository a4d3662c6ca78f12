import type { Programs } from './built.ts';
import type { Part } from './rows.ts';
import { median } from './rows.ts';
import type { SubjectName } from './stage.ts';
import { pause, Stage } from './stage.ts';

/** The number of idle readers. */
export interface IdleSize {
  readonly clients: number;
  readonly rounds: number;
  /** Number of readers connected beforehand, so that code is compiled and the heap has grown before the measurement. */
  readonly before: number;
}

interface PerClient {
  readonly rss: number;
  readonly heap: number;
}

/** Measures the memory of an idle reader, each time in a new process, compared with node:http alone. */
export async function measureIdle(programs: Programs, home: string, size: IdleSize): Promise<Part> {
  const raw: PerClient[] = [];
  const cobbler: PerClient[] = [];
  for (let round = 0; round < size.rounds; round += 1) {
    raw.push(await perClient('raw', programs, home, size));
    cobbler.push(await perClient('cobbler', programs, home, size));
  }
  const kib = (figures: readonly PerClient[], what: keyof PerClient) =>
    median(figures.map((figure) => figure[what] / 1024));
  return {
    title: `memory per idle reader: ${size.clients} readers in addition to ${size.before} others, median of ${size.rounds} processes each`,
    rows: (['heap', 'rss'] as const).flatMap((what) => [
      { name: `${what}, node:http alone`, value: kib(raw, what), unit: 'KiB' },
      { name: what, value: kib(cobbler, what), unit: 'KiB' },
      {
        name: `${what} of node:http alone`,
        value: kib(cobbler, what) / kib(raw, what),
        unit: 'x',
        most: 1.15,
      },
    ]),
  };
}

async function perClient(
  name: SubjectName,
  programs: Programs,
  home: string,
  { clients, before }: IdleSize,
): Promise<PerClient> {
  const stage = await Stage.open(name, programs, home);
  try {
    await stage.watch(before);
    await pause(500);
    const without = await stage.held();
    await stage.watch(clients);
    await pause(500);
    const held = await stage.held();
    return { rss: (held.rss - without.rss) / clients, heap: (held.heapUsed - without.heapUsed) / clients };
  } finally {
    await stage.close();
  }
}
