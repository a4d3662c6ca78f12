import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { isObject } from '../../values/json.ts';
import type { UnusedFile } from './folder-tools.ts';
import { maxTextBytes, PlaceReader } from './place-reader.ts';
import { isName } from './read-definitions.ts';

/** Maximum number of schedules, of files with evals and of channels of an agent. */
const maxParts = 100;

/** A file directly in a directory of an agent. */
export interface PartFile {
  /** Without its ending. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** Why a file cannot be used, as a clause without a final period, and the line of the problem, if it is known. */
export class PartProblem extends Error {
  readonly line: number | undefined;

  constructor(reason: string, line?: number) {
    super(reason);
    this.line = line;
  }
}

/** Throws a problem if a value has a field with another name. */
export function checkNames(given: unknown, known: readonly string[], what: string, line?: number): void {
  const strange = isObject(given) ? Object.keys(given).find((name) => !known.includes(name)) : undefined;
  if (strange === undefined) return;
  throw new PartProblem(`it has an unknown ${what} "${strange}". Known: ${known.join(', ')}`, line);
}

/** The parts of one kind. */
export interface PartList<Part> {
  readonly found: readonly Part[];
  readonly unused: readonly UnusedFile[];
}

/** The files in a directory of an agent. */
interface PartKind {
  readonly directory: string;
  readonly endings: RegExp;
  /** What these files are, for a file that is none of them. */
  readonly words: string;
}

/** Reads the files in a directory of an agent. If `readPart` throws, the file is broken. */
export async function readParts<Part>(
  folder: string,
  { directory, endings, words }: PartKind,
  readPart: (file: PartFile) => Part | Promise<Part>,
): Promise<PartList<Part>> {
  const whole = join(folder, directory);
  const entries = existsSync(whole) ? await readdir(whole, { withFileTypes: true }) : [];
  const found = new Map<string, Part>();
  const unused: UnusedFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = parse(entry.name);
    const path = join(whole, entry.name);
    const place = `${directory}/${entry.name}`;
    // A directory with the name of a file contains what this file needs.
    const isBeside = entry.isDirectory() && entries.some((other) => other.name.startsWith(`${entry.name}.`));
    if (isBeside || entry.name.startsWith('.')) continue;
    if (entry.isDirectory() || !endings.test(entry.name)) {
      unused.push({ path: place, reason: `${directory} are ${words}`, isBroken: false });
      continue;
    }
    try {
      if (found.size === maxParts) throw new PartProblem(`at most ${maxParts} ${directory} are possible`);
      if (!isName(name)) throw new PartProblem('its name can contain only letters, digits, "-", "_" and "."');
      if (found.has(name)) throw new PartProblem(`another file has the name ${name}`);
      const bytes = await new PlaceReader(undefined).bytes(path, maxTextBytes);
      found.set(name, await readPart({ name, path, text: bytes.toString('utf8') }));
    } catch (error) {
      const reason = AgentError.from(error).message.replace(/\.$/, '');
      const line = error instanceof PartProblem ? error.line : undefined;
      unused.push({ path: place, reason, isBroken: true, ...defined({ line }) });
    }
  }
  return { found: [...found.values()], unused };
}
