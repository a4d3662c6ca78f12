import type { ChatState, ChatStatus, UIMessage } from 'ai';
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { expect } from 'vitest';
import type { Rig } from '../support/rig.ts';

/** The state of a chat, as `useChat` keeps it, without React. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined;
  messages: UIMessage[];

  constructor(messages: readonly UIMessage[]) {
    this.messages = structuredClone([...messages]);
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, structuredClone(message)];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };

  snapshot = <Thing>(thing: Thing): Thing => structuredClone(thing);
}

/** The chat of the AI SDK: all of `useChat` but React. */
class Chat extends AbstractChat<UIMessage> {}

/** A page as docs/front-ends.md shows it, over HTTP. */
export class ChatPage {
  readonly chat: AbstractChat<UIMessage>;
  /** Requests so far, as `METHOD status`. */
  readonly requests: string[] = [];
  readonly errors: string[] = [];

  /** @param messages what the page kept from before it was loaded. */
  constructor(rig: Pick<Rig, 'server' | 'token'>, messages: readonly UIMessage[] = []) {
    const api = `${rig.server.url}/v1/sessions/s/chat`;
    const transport = new DefaultChatTransport<UIMessage>({
      api,
      headers: { authorization: `Bearer ${rig.token}` },
      prepareReconnectToStreamRequest: () => ({ api }),
      prepareSendMessagesRequest: ({ messages, trigger }) => ({
        body: { trigger, messages: messages.slice(-1) },
      }),
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        this.requests.push(`${init?.method ?? 'GET'} ${response.status}`);
        // A client that posts without end would keep the test busy until its time is over.
        if (this.requests.length > 12) throw new Error('too many requests');
        return response;
      },
    });
    this.chat = new Chat({
      id: 's',
      transport,
      state: new PlainState(messages),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onError: (error) => void this.errors.push(error.message),
    });
  }

  /** The tools of the last message: `name state`, with the output of a call that has one. */
  get tools(): string[] {
    return (this.chat.lastMessage?.parts ?? []).flatMap((part) => {
      if (part.type !== 'dynamic-tool') return [];
      const output = part.state === 'output-available' ? `: ${String(part.output)}` : '';
      return [`${part.toolName} ${part.state}${output}`];
    });
  }

  /** The text of the last message. */
  get text(): string {
    return (this.chat.lastMessage?.parts ?? [])
      .flatMap((part) => (part.type === 'text' ? [part.text] : []))
      .join('|');
  }

  /** Calls that the person is asked about, in order. */
  get asked(): { readonly id: string; readonly toolName: string }[] {
    return (this.chat.lastMessage?.parts ?? []).flatMap((part) => {
      if (part.type !== 'dynamic-tool' || part.state !== 'approval-requested') return [];
      return [{ id: part.approval.id, toolName: part.toolName }];
    });
  }

  /** Resolves when the person is asked about so many calls and the response has ended. */
  async untilAsked(calls: number): Promise<void> {
    await expect.poll(() => [this.asked.length, this.chat.status]).toEqual([calls, 'ready']);
  }

  /** Resolves when the last message ends with this text and nothing more is sent. */
  async untilSaid(text: string): Promise<void> {
    await expect.poll(() => [this.text.split('|').at(-1), this.chat.status]).toEqual([text, 'ready']);
  }

  /** Presses Allow or Deny for every call that is asked about. */
  async decide(approved: boolean, reason?: string): Promise<void> {
    for (const { id } of this.asked) {
      await this.chat.addToolApprovalResponse({ id, approved, ...(reason !== undefined && { reason }) });
    }
  }
}
