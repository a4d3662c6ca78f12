// A measured process: performs the job in its argument and prints the cost as one line of JSON.
import type { Job } from './job.ts';
import { perform } from './job.ts';

const job = JSON.parse(process.argv[2] ?? '{}') as Job;
process.stdout.write(`${JSON.stringify(await perform(job))}\n`, () => process.exit());
