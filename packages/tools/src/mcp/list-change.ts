import type { Tool } from '@cobbler/agent';

/** Differences between a server's tools and those that the model knows. */
export interface ListChange {
  readonly server: string;
  /** Tool names as the model sees them. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools with a different description, parameters or effect. */
  readonly changed: readonly string[];
}

/** Returns the differences, or undefined if a model would see none. */
export function listChange(
  server: string,
  before: readonly Tool[],
  after: readonly Tool[],
): ListChange | undefined {
  const [old, now] = [facesOf(before), facesOf(after)];
  const added = [...now.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now].filter(([name, face]) => old.has(name) && old.get(name) !== face);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { server, added, removed, changed: changed.map(([name]) => name) };
}

function facesOf(tools: readonly Tool[]): Map<string, string> {
  return new Map(
    tools.map(({ name, description, parameters, effect }) => [
      name,
      JSON.stringify([description, parameters, effect]),
    ]),
  );
}
