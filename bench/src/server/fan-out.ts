import type { Programs } from './built.ts';
import type { Part } from './rows.ts';
import { median } from './rows.ts';
import { pause, Stage } from './stage.ts';

/** The number of frames and readers. */
export interface FanOutSize {
  readonly clients: number;
  readonly rounds: number;
  /** Number of frames per round. */
  readonly frames: number;
}

/**
 * Interval between two frames, in milliseconds: long enough for the readers to receive each frame before the next.
 */
const everyMs = 40;

/** Measures the server's cost of one frame to one reader, alternating with the same bytes from node:http alone. */
export async function measureFanOut(programs: Programs, home: string, size: FanOutSize): Promise<Part> {
  const stages = {
    raw: await Stage.open('raw', programs, home),
    cobbler: await Stage.open('cobbler', programs, home),
  };
  try {
    await stages.cobbler.prompt('watched', 'hold');
    for (const stage of Object.values(stages)) await stage.watch(size.clients);
    const rounds = [];
    // The first round compiles the code.
    for (let round = 0; round <= size.rounds; round += 1) {
      const raw = await told(stages.raw, size);
      const cobbler = await told(stages.cobbler, size);
      if (raw.bytes !== cobbler.bytes)
        throw new Error(`The servers sent different amounts: ${raw.bytes} and ${cobbler.bytes} bytes.`);
      if (round > 0) rounds.push({ raw: raw.us, cobbler: cobbler.us });
    }
    return {
      title: `one frame to ${size.clients} readers in another process, ${size.rounds} rounds of ${size.frames}, alternating`,
      rows: [
        {
          name: 'CPU per delivery, node:http alone',
          value: median(rounds.map(({ raw }) => raw)),
          unit: 'us',
        },
        { name: 'CPU per delivery', value: median(rounds.map(({ cobbler }) => cobbler)), unit: 'us' },
        {
          name: 'of node:http alone, median of the rounds',
          value: median(rounds.map(({ raw, cobbler }) => cobbler / raw)),
          unit: 'x',
          most: 1.1,
        },
      ],
    };
  } finally {
    for (const stage of Object.values(stages)) await stage.close();
  }
}

async function told(stage: Stage, { clients, frames }: FanOutSize): Promise<{ us: number; bytes: number }> {
  await stage.bytes();
  const us = (await stage.tell(frames, everyMs)) / (clients * frames);
  return { us, bytes: await bytesOf(stage) };
}

/**
 * Counts the bytes that arrive at the readers, until none have arrived for two intervals: this can take time on a
 * busy machine.
 */
async function bytesOf(stage: Stage): Promise<number> {
  let bytes = 0;
  for (let calm = 0; calm < 2; ) {
    await pause(100);
    const more = await stage.bytes();
    bytes += more;
    calm = more === 0 ? calm + 1 : 0;
  }
  return bytes;
}
