import { assistant } from './assistant.ts';
import { cassettes } from './cassettes.ts';
import { commandLine } from './command-line.ts';
import { delegation } from './delegation.ts';
import type { Area, Explanation } from './explanation.ts';
import { requests, services } from './models.ts';
import { runners } from './runners.ts';
import { runs } from './runs.ts';
import { server } from './server.ts';
import { sessions, stores } from './stores.ts';
import { tools } from './tools.ts';

/**
 * Every error that Cobbler raises, in the order in which users usually encounter them. A test compares it with the
 * sources.
 */
export const catalogue: readonly Area[] = [
  commandLine,
  requests,
  services,
  runs,
  tools,
  delegation,
  sessions,
  stores,
  cassettes,
  server,
  runners,
  assistant,
];

/** All codes. */
export const codes: readonly string[] = catalogue.flatMap(({ entries }) => entries.map(({ code }) => code));

/** Returns the explanation of a code. */
export function explanationOf(code: string): Explanation | undefined {
  return catalogue.flatMap(({ entries }) => entries).find((entry) => entry.code === code);
}
