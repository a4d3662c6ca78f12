import { AgentError } from '@cobbler/agent';
import type { Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import { walk } from './walk.ts';

/** Maximum number of files examined, so that the error stays fast. */
const maxLooked = 5000;
const maxSuggested = 3;

/** Performs an action on a file. If the file does not exist, the error suggests files with similar names. */
export async function suggestNames<T>(
  workspace: Workspace,
  path: string,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'not_found') throw error;
    const names = await similarNames(workspace, path);
    if (names.length === 0) throw error;
    const advice = `Did you mean ${names.map((name) => quotePath(name)).join(' or ')}?`;
    throw new AgentError({ kind: 'tool', code: 'not_found', message: `${error.message} ${advice}` });
  }
}

/** Returns files with names similar to a missing one, the most similar first. */
async function similarNames(workspace: Workspace, path: string): Promise<string[]> {
  const wanted = workspace.subject(path);
  const found: { path: string; distance: number }[] = [];
  let looked = 0;
  for await (const { entries } of walk(workspace, '.')) {
    for (const { path: candidate, kind } of entries) {
      const distance = kind === 'file' ? nameDistance(candidate, wanted) : undefined;
      if (distance !== undefined) found.push({ path: candidate, distance });
    }
    looked += entries.length;
    if (looked > maxLooked) break;
  }
  const ranked = found.sort(
    (left, right) => left.distance - right.distance || (left.path < right.path ? -1 : 1),
  );
  return ranked.slice(0, maxSuggested).map((entry) => entry.path);
}

/** Returns the edit distance of the names, plus a little for different directories; undefined if they are not similar. */
function nameDistance(left: string, right: string): number | undefined {
  const [a, b] = [lastName(left), lastName(right)];
  const maxDistance = Math.max(1, Math.floor(Math.max(a.length, b.length) / 3));
  if (Math.abs(a.length - b.length) > maxDistance) return undefined;
  const distance = editDistance(a.toLowerCase(), b.toLowerCase());
  if (distance > maxDistance) return undefined;
  const isSameFolder = left.slice(0, -a.length) === right.slice(0, -b.length);
  return distance + (isSameFolder ? 0 : 0.5);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the number of letters to insert, delete or change to turn one word into the other (Levenshtein). */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 0; i < left.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < right.length; j += 1) {
      const change = (row[j] ?? 0) + (left[i] === right[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
