// Performs a run and kills its process at the given moment of its writes, counted from 1. At the end it
// prints the number of moments.
import { crashFiles, crashRun } from './crash-kit.ts';

const [folder = '', seed = '0', killAt = '0'] = process.argv.slice(2);
let moments = 0;

await crashRun(crashFiles(folder), Number(seed), () => {
  moments += 1;
  if (moments === Number(killAt)) process.kill(process.pid, 'SIGKILL');
});
process.stdout.write(`${moments}\n`);
