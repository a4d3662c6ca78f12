import type { Reader } from '@cobbler/agent/input';
import { withMethods } from '@cobbler/agent/input';
import { Problem } from '../requests/problem.ts';

/** A model that users can choose. */
export interface ModelOption {
  readonly name: string;
  /** Facts about it, such as its price. */
  readonly text?: string;
}

/** The model of the next run of a session. */
export interface NextModel {
  readonly model: string;
  /** How much it reasons. Absent: the default of the model. */
  readonly effort?: string | undefined;
  /** The efforts to choose from. Empty for a model that does not reason. */
  readonly efforts: readonly string[];
}

/** Another model, another effort, or both. */
export interface ModelChange {
  readonly model?: string | undefined;
  /** Null: the default of the model. */
  readonly effort?: string | null | undefined;
}

/** The models that users can choose for the runs of their sessions. A request can choose nothing else. */
export interface ServerModels {
  readonly list: readonly ModelOption[];
  /** Returns the model of a session's next run; for an unknown session, that of new ones. */
  of(sessionId: string): NextModel;
  /** Chooses one of the listed models or efforts. The settings of the session then have it. */
  choose(sessionId: string, change: ModelChange): Promise<void>;
  /** Gives a copy of a session the same model. */
  copy(from: string, to: string): void;
}

export const readModels: Reader<ServerModels> = withMethods('of', 'choose', 'copy');

/**
 * Chooses a model or an effort that the server offers.
 * @throws Problem 400 for one that it does not offer.
 */
export async function changeModel(
  models: ServerModels | undefined,
  sessionId: string,
  change: ModelChange,
): Promise<void> {
  const check = (what: 'model' | 'effort', known: readonly string[]) => {
    const { [what]: value } = change;
    if (value === undefined || value === null || known.includes(value)) return;
    const detail = `This server does not offer the ${what} ${JSON.stringify(value)}. Available: ${known.join(', ') || 'none'}.`;
    throw new Problem(400, 'not_offered', detail);
  };
  const names = models?.list.map(({ name }) => name) ?? [];
  check('model', names);
  // Whether another model reasons is known once it is chosen.
  if (change.model === undefined) check('effort', models?.of(sessionId).efforts ?? []);
  await models?.choose(sessionId, change);
}
