import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { ModelChange, ModelOption, NextModel, ServerModels } from '@cobbler/server';
import type { PricedAgent } from '../config/priced-agent.ts';
import type { Effort } from '../config/run-flags.ts';
import { efforts, readEffort } from '../config/run-flags.ts';

/** A model of a session. */
export interface SessionModel extends Pick<PricedAgent, 'agent' | 'pricing'> {
  readonly effort?: Effort | undefined;
}

/** Opens a model. Without a name, that of the command line; without an effort, the default of the model. */
export type OpenModel = (choice: {
  readonly model?: string;
  readonly effort?: Effort;
}) => Promise<SessionModel>;

/** Maximum number of sessions whose choice is kept. */
const maxChosen = 1_000;

/** The models that users have chosen for their sessions. They last as long as the server. */
export class SessionModels implements ServerModels {
  readonly list: readonly ModelOption[];
  readonly #first: SessionModel;
  readonly #open: OpenModel;
  readonly #chosen = new Map<string, SessionModel & { readonly name?: string | undefined }>();

  /** @param first the model of sessions for which nothing was chosen. */
  constructor(list: readonly ModelOption[], first: SessionModel, open: OpenModel) {
    this.list = list;
    this.#first = first;
    this.#open = open;
  }

  /** Returns the model that a session runs with. */
  modelOf(sessionId: string): SessionModel {
    return this.#chosen.get(sessionId) ?? this.#first;
  }

  of(sessionId: string): NextModel {
    const { agent, effort } = this.modelOf(sessionId);
    const { name = agent.model } = this.#chosen.get(sessionId) ?? {};
    return { model: name, effort, efforts: agent.capabilities.reasoning ? efforts : [] };
  }

  async choose(sessionId: string, { model, effort }: ModelChange): Promise<void> {
    const before = this.#chosen.get(sessionId);
    const name = model ?? before?.name;
    const next = effort === undefined ? (before ?? this.#first).effort : readEffort(effort ?? undefined);
    try {
      this.#put(sessionId, { ...(await this.#open(defined({ model: name, effort: next }))), name });
    } catch (thrown) {
      const { message } = AgentError.from(thrown);
      throw new AgentError({ kind: 'invalid', code: 'not_offered', message });
    }
  }

  copy(from: string, to: string): void {
    const chosen = this.#chosen.get(from);
    if (chosen !== undefined) this.#put(to, chosen);
  }

  /** Forgets a session that is deleted: another user can then use its id. */
  forget(sessionId: string): void {
    this.#chosen.delete(sessionId);
  }

  #put(sessionId: string, model: SessionModel & { readonly name?: string | undefined }): void {
    this.#chosen.delete(sessionId);
    this.#chosen.set(sessionId, model);
    const [oldest = ''] = this.#chosen.keys();
    if (this.#chosen.size > maxChosen) this.#chosen.delete(oldest);
  }
}
