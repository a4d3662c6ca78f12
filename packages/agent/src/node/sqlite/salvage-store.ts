import type { SalvagedSession } from './salvage.ts';

export type { SalvagedSession } from './salvage.ts';

/**
 * Copies all that is intact of a damaged store into a new one. Reads the pages of the file without SQLite, so that no
 * damaged page keeps another from being read; the file is not changed. Events that do not match their checksum are left
 * out; then the session is repaired as `repairLog` repairs a log, and its last run ends as failed if its end is lost.
 * @param from the file of the store; no process may have it open
 * @param to a file that does not exist
 * @returns every session of which anything is known, in the order in which they were made
 * @throws AgentError `invalid`: code `in_use` when a process has the store open, `store_exists`, `store_missing`; a code
 * of `sqliteStore` when the new store cannot be written
 */
export async function salvageStore(from: string, to: string): Promise<readonly SalvagedSession[]> {
  return await (await import('./salvage.ts')).salvage(from, to);
}
