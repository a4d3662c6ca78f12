import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { ModelChange, ModelOption, NextModel, ServerModels } from '@cobbler/server';
import type { PricedAgent } from '../config/priced-agent.ts';
import type { Effort } from '../config/run-flags.ts';
import { efforts, readEffort } from '../config/run-flags.ts';
import type { ChosenModel } from '../session/session-metadata.ts';

/** A model of a session. */
export interface SessionModel extends Pick<PricedAgent, 'agent' | 'pricing'> {
  readonly effort?: Effort | undefined;
}

/** Opens a model. Without a name, that of the command line; without an effort, the default of the model. */
export type OpenModel = (choice: {
  readonly model?: string;
  readonly effort?: Effort;
}) => Promise<SessionModel>;

interface NamedModel extends SessionModel {
  /** Absent: that of the command line. */
  readonly name?: string | undefined;
}

/** Maximum number of sessions whose choice is kept in memory. */
const maxChosen = 1_000;

/** Where the models of sessions come from. */
export interface ModelSource {
  readonly list: readonly ModelOption[];
  /** The model of sessions for which nothing was chosen. */
  readonly first: SessionModel;
  readonly open: OpenModel;
}

/** The models that users have chosen for their sessions. */
export class SessionModels implements ServerModels {
  source: ModelSource;
  /** Stores what was chosen for a session. */
  keep: (sessionId: string, chosen: ChosenModel) => void = () => undefined;
  readonly #chosen = new Map<string, NamedModel>();

  constructor(source: ModelSource) {
    this.source = source;
  }

  get list(): readonly ModelOption[] {
    return this.source.list;
  }

  /** Returns the model that a session runs with. */
  modelOf(sessionId: string): SessionModel {
    const chosen = this.#chosen.get(sessionId);
    // Those in use are the last to be forgotten.
    if (chosen !== undefined) this.#put(sessionId, chosen);
    return chosen ?? this.source.first;
  }

  of(sessionId: string): NextModel {
    const { agent, effort } = this.modelOf(sessionId);
    const { name = agent.model } = this.#chosen.get(sessionId) ?? {};
    return { model: name, effort, efforts: agent.capabilities.reasoning ? efforts : [] };
  }

  async choose(sessionId: string, { model, effort }: ModelChange): Promise<void> {
    const before = this.#chosen.get(sessionId);
    const name = model ?? before?.name;
    const next =
      effort === undefined ? (before ?? this.source.first).effort : readEffort(effort ?? undefined);
    try {
      await this.#open(sessionId, name, next);
    } catch (thrown) {
      const { message } = AgentError.from(thrown);
      throw new AgentError({ kind: 'invalid', code: 'not_offered', message });
    }
    this.keep(sessionId, defined({ model: name, effort: next }));
  }

  /** Opens what was chosen for a session earlier. The model of the server applies if it does not offer that now. */
  async restore(sessionId: string, { model, effort }: ChosenModel): Promise<void> {
    const isOffered = model === undefined || this.list.some(({ name }) => name === model);
    if (!isOffered || this.#chosen.has(sessionId)) return;
    try {
      await this.#open(sessionId, model, readEffort(effort));
    } catch {
      // For example, its key is missing.
    }
  }

  copy(from: string, to: string): void {
    const chosen = this.#chosen.get(from);
    if (chosen === undefined) return;
    this.#put(to, chosen);
    this.keep(to, defined({ model: chosen.name, effort: chosen.effort }));
  }

  /** Forgets a session that is deleted: another user can then use its id. */
  forget(sessionId: string): void {
    this.#chosen.delete(sessionId);
  }

  async #open(sessionId: string, name: string | undefined, effort: Effort | undefined): Promise<void> {
    this.#put(sessionId, { ...(await this.source.open(defined({ model: name, effort }))), name });
  }

  #put(sessionId: string, model: NamedModel): void {
    this.#chosen.delete(sessionId);
    this.#chosen.set(sessionId, model);
    const [oldest = ''] = this.#chosen.keys();
    if (this.#chosen.size > maxChosen) this.#chosen.delete(oldest);
  }
}
