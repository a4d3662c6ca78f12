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

/** The chat of the AI SDK: `useChat` without React. */
class Chat extends AbstractChat<UIMessage> {}

/** A page like the example in docs/front-ends.md, over HTTP. */
export class ChatPage {
  readonly chat: AbstractChat<UIMessage>;
  /** Requests so far, as `METHOD status`. */
  readonly requests: string[] = [];
  readonly errors: string[] = [];

  /** @param messages the messages that the page kept before it was reloaded. */
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
        // Stops a client that posts endlessly, before the test times out.
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

  /** The calls that wait for the user's decision, in order. */
  get asked(): { readonly id: string; readonly toolName: string }[] {
    return (this.chat.lastMessage?.parts ?? []).flatMap((part) => {
      if (part.type !== 'dynamic-tool' || part.state !== 'approval-requested') return [];
      return [{ id: part.approval.id, toolName: part.toolName }];
    });
  }

  /** Resolves when this number of calls wait for a decision and the response has ended. */
  async untilAsked(calls: number): Promise<void> {
    await expect.poll(() => [this.asked.length, this.chat.status]).toEqual([calls, 'ready']);
  }

  /** Resolves when the last message ends with this text and the chat is ready. */
  async untilSaid(text: string): Promise<void> {
    await expect.poll(() => [this.text.split('|').at(-1), this.chat.status]).toEqual([text, 'ready']);
  }

  /** Allows or denies every call that waits for a decision. */
  async decide(approved: boolean, reason?: string): Promise<void> {
    for (const { id } of this.asked) {
      await this.chat.addToolApprovalResponse({ id, approved, ...(reason !== undefined && { reason }) });
    }
  }
}
