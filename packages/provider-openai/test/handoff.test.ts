import type { Message } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import { callBlock, replies, scriptResponse } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';
import { withService } from './service.ts';

const tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object' },
  execute: () => '',
};

test('sends reasoning back to Responses after a turn over Chat Completions', async () => {
  const thought = { type: 'reasoning', text: 'I need the word.', seal: 'sealed/+=' } as const;
  const first = replies(
    scriptResponse([thought, 'I look.', callBlock('call_1', 'look_up', { word: 'last' })]),
  );
  const second = replies(scriptResponse([callBlock('call_1', 'look_up', { word: 'awl' })]));
  const third = replies(scriptResponse(['A last is a foot.']));
  await withService(responsesTesting, [first, third], async (responses) => {
    await withService(chatTesting, [second], async (chat) => {
      const thinker = createOpenAI({ api: 'responses', baseURL: responses.url, env: {} });
      const talker = createOpenAI({ baseURL: chat.url, env: {}, model: 'llama3.3' });
      const messages: Message[] = [userMessage('What is a last?')];
      for (const agent of [thinker, talker, thinker]) {
        const { message, toolCalls } = await agent.run({ messages, tools: [tool] });
        messages.push(message);
        for (const { id } of toolCalls) {
          messages.push({
            role: 'tool_result',
            toolCallId: id,
            content: [{ type: 'text', text: 'A foot.' }],
          });
        }
      }
      const asked = [...responses.exchanges, ...chat.exchanges];
      expect(asked.map(({ complaint }) => complaint)).toEqual([undefined, undefined, undefined]);
      const types = (
        turns: readonly { readonly parts: readonly { readonly type: string }[] }[] | undefined,
      ) => turns?.map(({ parts }) => parts.map(({ type }) => type).join(' '));
      expect(types(chat.exchanges[0]?.request?.turns)).toEqual(['text', 'text call', 'result']);
      expect(types(responses.exchanges[1]?.request?.turns)).toEqual([
        'text',
        'reasoning text call',
        'result',
        'call',
        'result',
      ]);
      expect(responses.exchanges[1]?.request?.turns[1]?.parts[0]).toEqual(thought);
      expect(messages.at(-1)?.content).toEqual([{ type: 'text', text: 'A last is a foot.' }]);
    });
  });
});
