// A process that writes to an audit log, for tests that need several processes. Prints a line once the first records
// are written. With `forever`, it writes until it is killed.
import { openAuditLog } from '../../../src/node/audit/index.ts';

const [folder = '', surface = '', amount = ''] = process.argv.slice(2);
const onTrouble = (message: string): void => {
  process.stdout.write(`trouble: ${message}\n`);
};
const log = openAuditLog({ folder, surface, version: '1.2.3', onTrouble });
const count = amount === 'forever' ? Number.POSITIVE_INFINITY : Number(amount);
for (let index = 0; index < count; index += 1) {
  log.note({ kind: 'token', change: 'created', token: `${surface}-${index}` });
  await new Promise((resolve) => setImmediate(resolve));
  if (index === 20) process.stdout.write('writing\n');
}
log.close();
