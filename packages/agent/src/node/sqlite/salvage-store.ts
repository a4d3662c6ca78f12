import { read, text } from '../../values/input.ts';
import type { SalvagedSession } from './salvage.ts';

export type { SalvagedSession } from './salvage.ts';

/**
 * Copies the intact content of a damaged store to a new one. Reads the pages of the file without SQLite, so that a
 * damaged page does not prevent reading another; the file is not changed. Events that do not match their checksum are
 * omitted; the session is then repaired as by `repairLog`, and its last run ends as failed if its end is lost.
 * @param from the file of the store; no process may have it open
 * @param to a file that does not exist
 * @returns every session of which any data was found, in order of creation
 * @throws AgentError `invalid`: code `in_use` if a process has the store open, `store_exists`, `store_missing`; a code
 * of `sqliteStore` if the new store cannot be written
 */
export async function salvageStore(from: string, to: string): Promise<readonly SalvagedSession[]> {
  const { salvage } = await import('./salvage.ts');
  return await salvage(read(from, text, 'from'), read(to, text, 'to'));
}
