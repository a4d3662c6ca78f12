import { useEffect, useMemo, useState } from 'preact/hooks';
import type { BackgroundCommand } from './api.ts';
import { api } from './api.ts';
import type { SessionModel } from './session-model.ts';

/** Interval at which running commands are loaded, in milliseconds. */
export const commandsEveryMs = 1_500;

/** The commands in the background of a session, the latest first. */
export interface Commands {
  readonly items: readonly BackgroundCommand[];
  readonly running: number;
  readonly reload: () => void;
}

/** Loads the commands of a session when one may have started or ended, and at intervals while one is running. */
export function useCommands(model: SessionModel | undefined, isOffered: boolean): Commands {
  const [items, setItems] = useState<readonly BackgroundCommand[]>([]);
  const [loads, setLoads] = useState(0);
  const started = useMemo(() => startedIn(model), [model?.version]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const load = async () => {
      // A server that is down comes back, which the page shows elsewhere.
      const found = model && (await api.commands(model.id).catch(() => undefined));
      if (isOver) return;
      if (found !== undefined) setItems(found.items.toReversed());
      if (found?.items.some(isRunning) === true) timer = setTimeout(() => void load(), commandsEveryMs);
    };
    if (isOffered) void load();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [model, isOffered, started, model?.view.state.runId, model?.isRunning, loads]);
  return { items, running: items.filter(isRunning).length, reload: () => setLoads((before) => before + 1) };
}

export function isRunning({ status }: BackgroundCommand): boolean {
  return status === 'running';
}

function startedIn(model: SessionModel | undefined): number {
  return (model?.view.items ?? [])
    .flatMap((item) => (item.kind === 'response' ? item.calls : []))
    .filter(({ part, report }) => report !== undefined && part.arguments['background'] === true).length;
}
