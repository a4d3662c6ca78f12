import { dirname, join } from 'node:path';
import type { ContextPolicy, Event, Store, Tool } from '@cobbler/agent';
import { isStored, memoryStore } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import type { Harness, HarnessOptions } from '@cobbler/agent/harness';
import { createHarness, sharedStore } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type { BackgroundCommands } from '@cobbler/tools';
import type { Agents } from '../agents/agents.ts';
import { shortPath } from '../config/directory.ts';
import { keepRule } from '../config/project-rules.ts';
import type { Effort } from '../config/run-flags.ts';
import type { Task } from '../run/task.ts';
import type { Audit } from '../session/audit.ts';
import { noAudit, readsOnly } from '../session/audit.ts';
import { BestEffortStore } from '../session/best-effort-store.ts';
import { sessionsIn, shortId } from '../session/find-session.ts';
import { JoinedHarness, sessionOf } from '../session/joined-harness.ts';
import type { CliSessions } from '../session/session-home.ts';
import type { ListedSession } from '../session/session-lines.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import { UndoHistory } from '../session/undo-history.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import type { ChatHost, ChatListener, ChatModel, LocalParts, ModelChange, ModelChoice } from './host.ts';

/** The current model and the data that depends on it. */
export interface SelectedModel extends Pick<Task, 'agent' | 'pricing' | 'failure'> {
  /** Absent: the default of the model. */
  readonly effort?: Effort;
  /** Settings that a resumed session uses. */
  readonly note: SessionMetadata;
}

/** Options of a local conversation. */
export interface LocalPlan
  extends Pick<Task, 'permission' | 'limits' | 'system' | 'onReached' | 'budget' | 'hooks'> {
  readonly io: Io;
  readonly folder: string;
  readonly selected: SelectedModel;
  /** Switches to another model or another effort. */
  readonly choose: (change: ModelChange) => Promise<SelectedModel>;
  readonly models: readonly ModelChoice[];
  /** Returns the tools for a new conversation. */
  readonly tools: () => readonly Tool[];
  /** Default: none. */
  readonly commands?: readonly CommandDefinition[];
  readonly context: ContextPolicy;
  /** Default: the tools have no commands in the background. */
  readonly background?: BackgroundCommands;
  /** The agents that the tool `agent` uses, if there is one. */
  readonly agents?: Agents;
  /** Ends what the tools have started. */
  readonly close?: () => Promise<void>;
  readonly allowUnpriced: boolean;
  /** More facts about the location, for the header. */
  readonly facts: readonly string[];
  /** Default: conversations are not audited. */
  readonly audit?: Audit;
  /** The stored sessions; if absent, conversations are not stored. */
  readonly sessions?: CliSessions;
}

/** Conversations on this machine. */
export class LocalHost implements ChatHost {
  readonly #plan: LocalPlan;
  readonly #store: Store;
  readonly undo: UndoHistory;
  /** The last event that was shown, by session. */
  readonly #shown = new Map<string, number>();
  #selected: SelectedModel;
  #onTrouble: (message: string) => void = () => undefined;
  #onNotice: (line: string) => void = () => undefined;

  constructor(plan: LocalPlan) {
    this.#plan = plan;
    this.#selected = plan.selected;
    const { sessions, audit = noAudit, context } = plan;
    const reading = context.offload === undefined ? [] : [context.offload.tool];
    this.#store = audit.watch<Store>(
      sessions === undefined
        ? memoryStore()
        : new BestEffortStore(sessions.store, ({ message }) => this.#onTrouble(message)),
      readsOnly(() => [...plan.tools(), ...reading]),
    );
    const books = sessions === undefined ? undefined : join(dirname(sessions.file), 'undo');
    this.undo = new UndoHistory(plan.folder, books);
  }

  get header(): readonly string[] {
    return ['cobbler', visible(this.model.name), visible(this.place), ...this.#plan.facts];
  }

  get folder(): string {
    return this.#plan.folder;
  }

  get place(): string {
    return shortPath(this.#plan.folder, this.#plan.io.env);
  }

  get model(): ChatModel {
    const { model, capabilities } = this.#selected.agent;
    const { contextTokens } = capabilities;
    return { name: model, ...defined({ contextTokens, effort: this.#selected.effort }) };
  }

  get permissionWord(): string {
    return this.#plan.permission.mode;
  }

  get limits(): LocalPlan['limits'] {
    return this.#plan.limits;
  }

  get failure(): ChatHost['failure'] {
    return this.#selected.failure;
  }

  get known(): readonly Tool[] {
    return this.#plan.tools();
  }

  get local(): LocalParts {
    const { tools, commands = [], permission, models, folder, io, choose, background } = this.#plan;
    return {
      tools: tools(),
      commands,
      permission,
      ...defined({ background }),
      models: () => models,
      setModel: async (change) => {
        const { effort } = this.#selected;
        this.#selected = await choose({ ...defined({ effort }), ...change });
      },
      keepRule: async (rule) => shortPath(await keepRule(folder, rule, io.env), io.env),
    };
  }

  open(sessionId: string | undefined, listener: ChatListener): Harness {
    const { tools, system, context, permission, limits, allowUnpriced, onReached, budget, hooks, agents } =
      this.#plan;
    const { agent, pricing } = this.#selected;
    const watched = this.undo.watchTools(tools());
    if (sessionId !== undefined) this.#shown.delete(sessionId);
    this.#onTrouble = listener.onTrouble;
    this.#onNotice = listener.onNotice;
    const options: HarnessOptions = {
      agent,
      pricing,
      system,
      context,
      limits,
      allowUnpriced,
      // Changes of sub-agents can be undone too.
      tools: agents?.over(watched) ?? watched,
      gate: permission.gate,
      attended: true,
      store: this.#store,
      toolErrors: 'continue',
      toolScheduling: 'parallel',
      handler: this.#recordingHandler(listener),
      ...defined({ sessionId, budget, hooks, onReached }),
    };
    const harness = createHarness(options);
    const store = this.#plan.sessions && sharedStore(this.#plan.sessions.store);
    if (store === undefined) return harness;
    const onEvent = listener.handler.onEvent;
    const follows = listener.followsOthers === true && onEvent !== undefined;
    const shown = this.#shown;
    return new JoinedHarness(harness, {
      store,
      shown,
      clock: this.#plan.io.clock,
      ...(follows && { onEvent }),
      ...defined({ onUnread: listener.onUnread }),
    });
  }

  /** Sends a line to the listener of the latest conversation. */
  tell(line: string): void {
    this.#onNotice(line);
  }

  adopt(harness: Harness, from: string): void {
    this.undo.copy(from, harness.sessionId);
    this.#plan.background?.move(from, harness.sessionId);
    this.#plan.sessions?.notes.write(harness.sessionId, this.#selected.note);
  }

  async past(sessionId: string): Promise<readonly Event[]> {
    const past = await this.#store.read(sessionId);
    // Later, the conversation itself shows the events since.
    if (!this.#shown.has(sessionId)) this.#shown.set(sessionId, past.length);
    return past;
  }

  async sessions(): Promise<readonly ListedSession[]> {
    const { sessions, folder } = this.#plan;
    if (sessions === undefined) return [];
    const rows: ListedSession[] = [];
    for await (const info of sessionsIn(sessions, folder)) {
      rows.push({ info });
      if (rows.length === 100) break;
    }
    return rows;
  }

  wayBack(sessionId: string): string | undefined {
    const { sessions, io } = this.#plan;
    return sessions === undefined ? undefined : `${ownName(io.env)} chat -s ${shortId(sessionId)}`;
  }

  /** Ends what the tools have started. The stored sessions stay open. */
  async close(): Promise<void> {
    await this.#plan.close?.();
  }

  /** Records a session with its first event: a session without messages does not exist. */
  #recordingHandler(listener: ChatListener): ChatListener['handler'] {
    let noted = '';
    return {
      onEvent: (event) => {
        if (isStored(event)) {
          this.#shown.set(sessionOf(event), event.seq);
          if (noted !== event.runId) this.#plan.sessions?.notes.write(sessionOf(event), this.#selected.note);
          noted = event.runId;
        }
        listener.handler.onEvent?.(event);
      },
    };
  }
}
