import type { Message as ClientMessage } from '@ag-ui/client';
import type { AssistantPart, Event, Message, SessionStore, ToolResultPart, UserPart } from '@cobbler/agent';
import { openSession, textOf } from '@cobbler/agent';

/**
 * Returns the messages that an AG-UI client must hold for a session, computed from the log alone:
 * their order, texts, calls and results equal those of the fold, and their ids come from the events.
 *
 * @param said the client's own ids of the prompts, in order; undefined, or absent, where the client
 * uses the id of the event.
 */
export async function agUiMessages(
  store: SessionStore,
  sessionId: string,
  said: readonly (string | undefined)[] = [],
): Promise<ClientMessage[]> {
  const [{ messages }, events] = await Promise.all([openSession(store, sessionId), store.read(sessionId)]);
  const names = new Names(events, said);
  return messages
    .filter((message) => !isCutNote(message))
    .flatMap((message) => clientMessages(message, names));
}

/** Returns true if a message only tells the model that its response was cut; no user sent it. */
function isCutNote(message: Message): boolean {
  return message.role === 'user' && textOf(message).startsWith('Your last answer ended here');
}

/** Assigns ids to messages, calls and results in the order of the log. */
class Names {
  readonly #said: { readonly id: string; readonly shown: string; readonly isSteer: boolean }[] = [];
  readonly #results = new Map<string, string>();
  #exchange = '';
  #ofExchange = 0;
  #turn = 0;
  #calls: string[] = [];
  #given = 0;

  constructor(events: readonly Event[], own: readonly (string | undefined)[]) {
    let prompts = 0;
    for (const event of events) {
      if (event.type === 'tool_result') this.#results.set(`${event.turn}.${event.index}`, event.id);
      if (event.type !== 'user') continue;
      const isSteer = event.steer === true;
      this.#said.push({ id: event.id, shown: (isSteer ? undefined : own[prompts++]) ?? event.id, isSteer });
    }
  }

  nextSaid(): string {
    const said = this.#said.shift();
    if (said === undefined) throw new Error('The client has more messages than the log.');
    if (!said.isSteer) [this.#exchange, this.#ofExchange] = [said.id, 0];
    return said.shown;
  }

  nextAnswer(): string {
    this.#turn += 1;
    this.#ofExchange += 1;
    this.#calls = [];
    this.#given = 0;
    return `${this.#exchange}-${this.#ofExchange}`;
  }

  nextCall(answer: string): string {
    this.#calls.push(`${answer}-call-${this.#calls.length + 1}`);
    return this.#calls.at(-1) ?? '';
  }

  /**
   * Returns the call of the next result, and the id of the result: that of its event, or one derived
   * from the call if the log has no such event.
   */
  nextResult(): { readonly call: string; readonly id: string; readonly isLogged: boolean } {
    const index = this.#given++;
    const [call = '', logged] = [this.#calls[index], this.#results.get(`${this.#turn}.${index}`)];
    return { call, id: logged ?? `${call}-left`, isLogged: logged !== undefined };
  }
}

function clientMessages(message: Message, names: Names): ClientMessage[] {
  if (message.role === 'user') {
    return [{ id: names.nextSaid(), role: 'user', content: textIn(message.content) }];
  }
  if (message.role === 'assistant') return answerMessages(message.content, names);
  const { call: toolCallId, id, isLogged } = names.nextResult();
  const unheard = message.notRun === true ? 'This call was not run.' : 'The outcome of this call is unknown.';
  const content = isLogged ? textIn(message.content) : unheard;
  const isError = message.isError === true;
  return [{ id, role: 'tool', toolCallId, content, ...(isError && { metadata: { isError } }) }];
}

type AnswerMessage = Extract<ClientMessage, { role: 'assistant' }>;

function answerMessages(content: readonly AssistantPart[], names: Names): ClientMessage[] {
  const id = names.nextAnswer();
  const messages: ClientMessage[] = [];
  let owner: AnswerMessage | undefined;
  const own = (message: AnswerMessage) => {
    owner = message;
    messages.push(message);
    return message;
  };
  for (const [place, part] of content.filter(isVisible).entries()) {
    if (part.type === 'reasoning') {
      messages.push({ id: `${id}-reasoning-${place + 1}`, role: 'reasoning', content: part.text });
    } else if (part.type === 'text') {
      own({ id: `${id}-text-${place + 1}`, role: 'assistant', content: part.text });
    } else if (part.type === 'tool_call') {
      const message = owner ?? own({ id, role: 'assistant' });
      const named = { name: part.toolName, arguments: JSON.stringify(part.arguments) };
      const call = { id: names.nextCall(id), type: 'function' as const, function: named };
      message.toolCalls = [...(message.toolCalls ?? []), call];
    }
  }
  return messages;
}

function isVisible(part: AssistantPart): boolean {
  return part.type === 'tool_call' || (part.type !== 'opaque' && part.text !== '');
}

function textIn(content: readonly (UserPart | ToolResultPart)[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
