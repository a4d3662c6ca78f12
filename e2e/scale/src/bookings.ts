import { existsSync, readFileSync } from 'node:fs';

/** One run of the tool that must not run twice. */
export interface Booking {
  readonly sessionId: string;
  readonly place: number;
  /** The Cobbler process that owns the tool server. */
  readonly by: string;
}

/** Returns all runs that the tool servers of all processes have written. */
export function readBookings(file: string): readonly Booking[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map((line) => {
    const [sessionId = '', place, by = ''] = line.split(' ');
    return { sessionId, place: Number(place), by };
  });
}
