// The model server as a separate process, so that its work is not included in measured CPU time. It prints its
// address to stdout and ends together with its parent.
import { startModelServer } from './model-server.ts';

const server = await startModelServer();
process.stdout.write(`${new URL(server.url('', '')).origin}\n`);
process.stdin.resume().on('end', () => process.exit());
