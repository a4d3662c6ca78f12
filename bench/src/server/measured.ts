// A measured server in a separate process: `measured.mjs cobbler FOLDER` or `measured.mjs raw`.
import { answerParent } from './child-talk.ts';
import { startCobbler } from './cobbler-subject.ts';
import { startRaw } from './raw-subject.ts';

const [what, folder = ''] = process.argv.slice(2);
const subject = what === 'raw' ? await startRaw() : await startCobbler(folder);

answerParent({
  held: async () => {
    for (let time = 0; time < 3; time += 1) {
      globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return process.memoryUsage();
  },
  /** Sends this many frames at this interval, and returns the CPU time used, in microseconds. */
  tell: async ({ frames, everyMs }) => {
    const before = process.cpuUsage();
    for (let frame = 0; frame < Number(frames); frame += 1) {
      subject.tell();
      await new Promise((resolve) => setTimeout(resolve, Number(everyMs)));
    }
    const { user, system } = process.cpuUsage(before);
    return user + system;
  },
});

const { url, token, path } = subject;
process.send?.({ url, token, path });
