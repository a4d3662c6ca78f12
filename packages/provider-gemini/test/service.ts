import type { Agent, Message } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { MockReply } from '@cobbler/agent/testing';
import { handlerTransport, wireServer } from '@cobbler/agent/testing';
import type { GeminiConfig } from '../src/index.ts';
import { createGemini } from '../src/index.ts';
import { geminiTesting } from '../src/testing/index.ts';
import type { Body } from '../src/testing/rules.ts';

/** The requests of an agent as the service receives them, and the agent. */
export interface Served {
  readonly agent: Agent;
  /** Returns the body of a request. Throws if the service would reject it. */
  sent(index?: number): Body;
}

/** Returns an agent whose requests get these replies. */
export function served(replies: readonly MockReply[], config: GeminiConfig = {}): Served {
  const server = wireServer(geminiTesting, replies);
  const agent = createGemini({
    ...{ apiKey: 'key', env: {}, model: 'gemini-3.8-flash', retry: { retries: 0 } },
    ...config,
    transport: handlerTransport(server.handler),
  });
  return {
    agent,
    sent(index = 0) {
      const { complaint, text } = server.exchanges[index] ?? { complaint: 'no request', text: '' };
      if (complaint !== undefined) throw new Error(complaint);
      return JSON.parse(text);
    },
  };
}

/** Returns a response with these chunks, as the service sends them. */
export function stream(...chunks: readonly (object | string)[]): MockReply {
  const frames = chunks.map((chunk) =>
    typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`,
  );
  return { type: 'raw', status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames };
}

/** Returns a chunk with these parts. */
export function chunk(parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason && { finishReason }) }],
  };
}

export const done: MockReply = stream(chunk([{ text: 'Done.' }], 'STOP'));

export const tool = {
  name: 'getWeather',
  description: 'The weather.',
  parameters: { type: 'object' },
  execute: () => '',
};

export const hello: Message = userMessage('Hello.');

/** Returns the result of a call. */
export function resultOf(toolCallId: string, text: string = 'Sunny.'): Message {
  return { role: 'tool_result', toolCallId, content: [{ type: 'text', text }] };
}
