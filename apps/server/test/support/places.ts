import type { FileRestoration, SessionCommand, SessionPlaces, Undone } from '../../src/index.ts';

/** Directories whose files, commands and rules are only kept in memory. */
export interface TestPlaces extends SessionPlaces {
  readonly files: Map<string, string>;
  /** What runs have changed: by run, the files and what they contained before. */
  readonly changed: Map<string, ReadonlyMap<string, string | undefined>>;
  readonly commands: Map<string, SessionCommand[]>;
  /** Rules, commands and modes that were changed. */
  readonly kept: string[];
}

const bytes = (text: string | undefined) => (text === undefined ? null : new TextEncoder().encode(text));

export function testPlaces(kept: string[] = [], folder: Map<string, string> = new Map()): TestPlaces {
  const [files, changed] = [
    new Map<string, string>(),
    new Map<string, ReadonlyMap<string, string | undefined>>(),
  ];
  const commands = new Map<string, SessionCommand[]>();
  const planned = new Set<string>();
  const undone = new Map<string, Undone>();
  const restore = (all: readonly FileRestoration[]) => {
    for (const { path, before } of all)
      if (path === 'locked.txt') throw new Error('EACCES: /home/ada/locked.txt');
      else if (before === null) files.delete(path);
      else files.set(path, new TextDecoder().decode(before));
  };
  const restorations = async (_: string, runIds: ReadonlySet<string>) =>
    [...changed].flatMap(([runId, before]) =>
      [...(runIds.has(runId) ? before : [])].map(([path, text]) => ({
        path,
        ...{ now: bytes(files.get(path)), before: bytes(text) },
        isChanged: files.get(path)?.startsWith('theirs') === true,
      })),
    );
  return {
    files,
    changed,
    commands,
    kept,
    open: async (id) => (folder.get(id) === '/gone' ? 'The directory is gone.' : undefined),
    folderOf: (id) => folder.get(id) ?? '/first',
    folders: async () => ['/first', '/second', '/gone'],
    choose: (id, path) => void folder.set(id, path),
    rulesFor: (_, { toolName }) => [`${toolName}(x)`, toolName],
    keepRule: async (id, rule) => void kept.push(`${id} ${rule}`),
    plans: (id) => planned.has(id),
    plan: (id, isOn) => {
      if (id === 'full') throw new Error('ENOSPC: /home/ada');
      if (isOn) planned.add(id);
      else planned.delete(id);
    },
    placeOf: (id) =>
      folder.get(id) === '/gone'
        ? undefined
        : {
            undo: {
              restorations,
              undone: (session) => undone.get(session),
              undo: async (all, from, session, seq) => {
                const runId = `undo ${from}`;
                changed.set(runId, new Map(all.map(({ path }) => [path, files.get(path)])));
                undone.set(session, { runId, from, seq });
                restore(all);
              },
              redo: async (session, _, all) => {
                restore(all);
                undone.delete(session);
              },
            },
            commands: {
              list: (session) => commands.get(session) ?? [],
              stop: async (session, command) => {
                kept.push(`stop ${session} ${command}`);
                const all = commands.get(session) ?? [];
                commands.set(
                  session,
                  all.map((one) => (one.id === command ? { ...one, status: 'stopped' } : one)),
                );
              },
              move: (from, to) => void kept.push(`move ${from} ${to}`),
            },
          },
  };
}
