// A measured process: performs the job in its argument and prints the result as one line of JSON.
import type { Job } from './job.ts';
import { perform } from './job.ts';
import type { WaitingJob } from './waiting.ts';

const job = JSON.parse(process.argv[2] ?? '{}') as Job | WaitingJob;
const result = 'waiting' in job ? await waiting(job) : await perform(job);
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());

/** Imported only here, because the service that it starts would add to the start of the other jobs. */
async function waiting(waitingJob: WaitingJob): Promise<{ readonly heapBytes: number }> {
  const { heapOfWaiting } = await import('./waiting.ts');
  return { heapBytes: await heapOfWaiting(waitingJob) };
}
