// The model server as a process of its own, so that its work is nobody's CPU time. Tells its address on
// stdout and ends with its parent.
import { startModelServer } from './model-server.ts';

const server = await startModelServer();
process.stdout.write(`${new URL(server.url('', '')).origin}\n`);
process.stdin.resume().on('end', () => process.exit());
