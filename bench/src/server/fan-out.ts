import type { Programs } from './built.ts';
import type { Part } from './rows.ts';
import { median } from './rows.ts';
import { pause, Stage } from './stage.ts';

/** How much is told to how many. */
export interface FanOutSize {
  readonly clients: number;
  readonly rounds: number;
  /** Frames of a round. */
  readonly frames: number;
}

/** Between two frames, in milliseconds: long enough for the readers to have taken one before the next comes. */
const everyMs = 40;

/** What one frame to one reader costs the server, beside the same bytes from node:http alone, in turn. */
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
        throw new Error(`Not the same was told: ${raw.bytes} and ${cobbler.bytes} bytes.`);
      if (round > 0) rounds.push({ raw: raw.us, cobbler: cobbler.us });
    }
    return {
      title: `one frame to ${size.clients} readers in another process, ${size.rounds} rounds of ${size.frames} in turn`,
      rows: [
        {
          name: 'CPU of a delivery, node:http alone',
          value: median(rounds.map(({ raw }) => raw)),
          unit: 'us',
        },
        { name: 'CPU of a delivery', value: median(rounds.map(({ cobbler }) => cobbler)), unit: 'us' },
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

/** All bytes that come to the readers, which on a busy machine may take its time: until twice none more have come. */
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
