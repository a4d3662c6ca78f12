import type { BaseEvent, Interrupt, Message, ResumeEntry } from '@ag-ui/client';
import { HttpAgent } from '@ag-ui/client';
import type { Rig } from '../support/rig.ts';

/** An AG-UI front end: the official client, which checks the event order and builds the messages. */
export class Front {
  readonly agent: HttpAgent;
  events: BaseEvent[] = [];
  /** The client's ids of its own messages. A snapshot replaces them with the ids of the log. */
  said: (string | undefined)[];

  constructor({ server, token }: Pick<Rig, 'server' | 'token'>, messages: Message[] = []) {
    this.said = messages.flatMap(({ id, role }) => (role === 'user' ? [id] : []));
    const headers = { authorization: `Bearer ${token}` };
    this.agent = new HttpAgent({
      url: `${server.url}/v1/ag-ui`,
      headers,
      threadId: 's',
      initialMessages: messages,
    });
  }

  async say(content: string, runId?: string): Promise<void> {
    const id = `u${this.agent.messages.length}`;
    this.said.push(id);
    this.agent.addMessage({ id, role: 'user', content });
    await this.run({ ...(runId !== undefined && { runId }) });
  }

  async run(parameters: { runId?: string; resume?: ResumeEntry[] } = {}): Promise<void> {
    this.events = [];
    const onEvent = ({ event }: { event: BaseEvent }) => {
      this.events.push(event);
      if (event.type === 'MESSAGES_SNAPSHOT') this.said = this.said.map(() => undefined);
    };
    await this.agent.runAgent(parameters, { onEvent });
  }

  get interrupts(): readonly Interrupt[] {
    return this.agent.pendingInterrupts;
  }

  async answer(payload: unknown): Promise<void> {
    const resume = this.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved' as const,
      payload,
    }));
    await this.run({ resume });
  }

  get types(): string[] {
    return this.events.map(({ type }) => String(type));
  }
}
