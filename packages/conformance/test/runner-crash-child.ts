// Performs a run and kills its process at the given moment, counted from 1. At the end it prints the number
// of moments.
import { crashWorkflow } from './runner-crash-kit.ts';

const [folder = '', killAt = '0'] = process.argv.slice(2);
let moments = 0;

await crashWorkflow(folder, () => {
  moments += 1;
  if (moments === Number(killAt)) process.kill(process.pid, 'SIGKILL');
});
process.stdout.write(`${moments}\n`);
