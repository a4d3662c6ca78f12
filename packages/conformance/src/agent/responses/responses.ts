import type { StopReason } from '@cobbler/agent';
import { textOf } from '@cobbler/agent';
import type { UnsupportedFeature } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { continueConversation, user } from '../setup/request-parts.ts';
import { askOnce, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('answers');

/** Characters that are hard to type but frequent in text. */
const oddText =
  'a\u0000b\u0007 \t"\\/ \r\n\u2028\u2029\u0085 ﬁ e\u0301 é 漢字 🧵👩‍👩‍👧 \ufeff data: x\n\nevent: y\n: z';

function stopsFor(reason: StopReason, words: string, ...needs: UnsupportedFeature[]): CaseDefinition {
  return the(
    `a response that ${words} has the matching stop reason [P4]`,
    async (subject) => {
      const answer = scriptResponse(['As far as it goes.'], { stop: reason });
      const { outcome } = await askOnce(subject, replies(answer));
      expectResponse(responseOf(outcome), answer, subject.testing);
    },
    ...needs,
  );
}

export const responseCases: readonly CaseDefinition[] = [
  the('a text response is read completely, with stop reason, usage and model', async (subject) => {
    const answer = scriptResponse(['The answer is forty-two.']);
    const { outcome, exchanges } = await askOnce(subject, replies(answer));
    const response = responseOf(outcome);
    expectResponse(response, answer, subject.testing);
    expectEqual(textOf(response.message), 'The answer is forty-two.', 'the text of the message');
    expectEqual(response.message.role, 'assistant', 'the role of the message');
    expectEqual(response.attempts, 1, 'the attempts');
    expectEqual([response.wasted.inputTokens, response.wasted.outputTokens], [0, 0], 'the wasted tokens');
    expectEqual(exchanges.length, 1, 'the number of requests');
  }),
  the(
    'the response contains the model that responded, even if another one was requested',
    async (subject) => {
      const answer = scriptResponse(['Hello.'], { model: 'another-model-2026-11-01' });
      const { outcome } = await askOnce(subject, replies(answer));
      expectEqual(responseOf(outcome).model, 'another-model-2026-11-01', 'the model');
    },
    'model-name',
  ),
  the('unusual characters arrive unchanged', async (subject) => {
    const answer = scriptResponse([oddText]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectEqual(responseOf(outcome).content, oddText, 'the text');
  }),
  the('whitespace at the edges and between deltas is kept', async (subject) => {
    const answer = scriptResponse(['  two blanks \n\n and lines \n ']);
    const { outcome } = await askOnce(subject, replies(answer));
    expectEqual(responseOf(outcome).content, '  two blanks \n\n and lines \n ', 'the text');
  }),
  the('two texts are joined in order without a separator', async (subject) => {
    const answer = scriptResponse(['First.', 'Second.']);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
  the('a long text arrives completely', async (subject) => {
    const answer = scriptResponse(['0123456789 lines of a long answer\n'.repeat(4000)]);
    const { outcome } = await askOnce(subject, replies(answer, { chunks: { size: 1400 } }));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
  the(
    'reasoning is separate from the text [S0.6]',
    async (subject) => {
      const answer = scriptResponse([{ type: 'reasoning', text: 'Let me think.' }, 'Done.']);
      const { outcome } = await askOnce(subject, replies(answer));
      expectResponse(responseOf(outcome), answer, subject.testing);
      const emitted = outcome.events.flatMap((event) => (event.type === 'reasoning' ? [event.text] : []));
      expectEqual(emitted, ['Let me think.'], 'the reasoning emitted');
      const kept = responseOf(outcome).message.content.flatMap((part) =>
        part.type === 'reasoning' ? [part.text] : [],
      );
      expectEqual(kept, ['Let me think.'], 'the reasoning of the message');
    },
    'reasoning',
  ),
  the('text before tool calls is returned with them [S0.6]', async (subject) => {
    const answer = scriptResponse(['I look it up.', callBlock('call_1', 'look_up', { word: 'cobbler' })]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
    const types = responseOf(outcome).message.content.map((part) => part.type);
    expectEqual(types, ['text', 'tool_call'], 'the parts of the message');
  }),
  stopsFor('complete', 'completes normally'),
  stopsFor('max_tokens', 'is cut off at the token limit'),
  stopsFor('refusal', 'is a refusal'),
  stopsFor('pause', 'pauses', 'pause'),
  stopsFor('context_full', 'fills the context window', 'context-full-stop'),
  stopsFor('unknown', 'ends for an unknown reason'),
  the('a response of calls has the stop reason tool_use [P4]', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'look_up', { word: 'awl' })]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
    expectEqual(responseOf(outcome).content, '', 'the text');
  }),
  the('an empty response is valid, and the conversation continues [P12]', async (subject) => {
    const empty = scriptResponse([], { usage: { inputTokens: 120, outputTokens: 2 } });
    await withSetup(subject, [replies(empty), replies(scriptResponse(['Here I am.']))], async (setup) => {
      const first = responseOf(await setup.ask({ messages: [user('Say nothing.')] }));
      expectEqual(
        [first.content, first.stopReason, first.toolCalls],
        ['', 'complete', []],
        'the empty response',
      );
      const messages = continueConversation([user('Say nothing.')], first.message);
      expectEqual(responseOf(await setup.ask({ messages })).content, 'Here I am.', 'the second response');
    });
  }),
  the('an empty text is omitted from the message, and the conversation continues [P12]', async (subject) => {
    const answer = scriptResponse(['', 'Something.', '']);
    await withSetup(subject, [replies(answer), replies(scriptResponse(['More.']))], async (setup) => {
      const first = responseOf(await setup.ask({ messages: [user('Hello.')] }));
      expectResponse(first, answer, subject.testing);
      responseOf(await setup.ask({ messages: continueConversation([user('Hello.')], first.message) }));
    });
  }),
  the('the conversation continues after a response of whitespace [P12]', async (subject) => {
    await withSetup(
      subject,
      [replies(scriptResponse([' \n '])), replies(scriptResponse(['Fine.']))],
      async (setup) => {
        const first = responseOf(await setup.ask({ messages: [user('Hello.')] }));
        responseOf(await setup.ask({ messages: continueConversation([user('Hello.')], first.message) }));
      },
    );
  }),
  the('request id and rate limits of the response are read, if the service sends them', async (subject) => {
    const { outcome } = await askOnce(subject, replies(scriptResponse(['Hello.'])));
    const { head } = subject.testing;
    expectEqual(responseOf(outcome).requestId, head?.requestId, 'the request id');
    if (head?.rateLimits === undefined) return;
    expectEqual(responseOf(outcome).rateLimits, head.rateLimits, 'the rate limits');
    expect(Object.keys(head.rateLimits).length > 0, 'at least one rate limit in the declared headers');
  }),
];
