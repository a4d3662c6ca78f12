import type { AgentEvent, Message, Run, RunResult } from '@cobbler/agent';
import { AgentError, textOf } from '@cobbler/agent';
import type { ModelStep, RunFixture } from '@cobbler/agent/testing';
import {
  assertValidHistory,
  expect,
  expectEqual,
  ofType,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('partial responses');

const delta = (text: string, index = 0): AgentEvent => ({ type: 'text_delta', index, text });
const cut = { kind: 'network', code: 'cut', message: 'The connection was cut.' } as const;
const retry: AgentEvent = { type: 'retry', attempt: 1, error: cut, delayMs: 5 };

/** A response that emits these events and never ends. */
function begins(...shown: readonly AgentEvent[]): ModelStep {
  return (_request, { emit }) => {
    for (const event of shown) emit?.(event);
    return new Promise(() => {});
  };
}

/** A response that emits these events and then fails. */
function breaks(error: ConstructorParameters<typeof AgentError>[0], ...shown: AgentEvent[]): ModelStep {
  return (_request, { emit }) => {
    for (const event of shown) emit?.(event);
    throw new AgentError(error);
  };
}

/** Lets a response start and cancels the run in the middle of it. */
async function cancelMidway(setup: RunFixture, run: Run): Promise<RunResult> {
  await setup.advance(100);
  run.cancel();
  const result = await setup.until(run);
  expectEqual(result.status, 'cancelled', 'the status');
  return result;
}

const outline = (messages: readonly Message[]) => messages.map((one) => `${one.role}: ${textOf(one)}`);

/** The messages in the conversation after a partial response. */
function partialMessages(text: string, why: string): string[] {
  return [`assistant: ${text}`, `user: Your last answer ended here, before it was complete: ${why}.`];
}

const cancelled = 'the work was cancelled';

export const partialCases: readonly ExecutorCase[] = [
  the('text received before a cancel is in the log, and the model sees it', async (setup) => {
    const agent = scriptedModel([begins(delta('Once '), delta('upon a')), textResponse('On.')]);
    const run = setup.run({ agent }, 'Tell.', { sessionId: 'tale' });
    const { messages, text } = await cancelMidway(setup, run);
    const [failed] = ofType(setup.storedOf(run), 'ask_failed');
    expectEqual(failed?.partial, [{ type: 'text', text: 'Once upon a' }], 'the text in the log');
    expectEqual(
      outline(messages),
      ['user: Tell.', ...partialMessages('Once upon a', cancelled)],
      'the messages',
    );
    assertValidHistory(messages);
    expectEqual(text, '', 'the text of a complete response');
    await setup.play({ agent }, 'Continue.', { sessionId: 'tale' });
    const sent = outline(agent.requests[1]?.messages ?? []);
    expectEqual(
      sent,
      ['user: Tell.', ...partialMessages('Once upon a', cancelled), 'user: Continue.'],
      'the messages of the request',
    );
  }),
  the('text received before a timeout is kept', async (setup) => {
    const agent = scriptedModel([begins(delta('Once'))]);
    const { status, messages } = await setup.play({ agent, limits: { ms: 1000 } });
    expectEqual(status, 'timeout', 'the status');
    expectEqual(
      outline(messages).slice(1),
      partialMessages('Once', 'the time limit was reached'),
      'the messages',
    );
  }),
  the(
    'text received before the request finally fails is kept, and a resumed run continues it',
    async (setup) => {
      const agent = scriptedModel([breaks(cut, delta('Once')), textResponse('On.')]);
      const failed = await setup.play({ agent }, 'Tell.', { sessionId: 'tale' });
      expectEqual([failed.status, failed.error?.code], ['failed', 'cut'], 'the outcome');
      const resumed = await setup.until(setup.resume({ agent }, 'tale'));
      const why = 'the connection to the model failed';
      expectEqual(
        outline(agent.requests[1]?.messages ?? []).slice(1),
        partialMessages('Once', why),
        'the messages of the request',
      );
      expectEqual([resumed.status, resumed.text], ['complete', 'On.'], 'the outcome of the resumed run');
    },
  ),
  the('no text is kept from an attempt that was retried [P8]', async (setup) => {
    const shown = [delta('Bad'), retry, delta('Good')];
    const { messages } = await cancelMidway(setup, setup.run({ agent: scriptedModel([begins(...shown)]) }));
    expectEqual(outline(messages).slice(1), partialMessages('Good', cancelled), 'the messages');
    const answered: ModelStep = (_request, { emit }) => {
      for (const event of shown) emit?.(event);
      return textResponse('Good.');
    };
    const whole = await setup.play({ agent: scriptedModel([answered]) });
    expectEqual(
      outline(whole.messages),
      ['user: Go.', 'assistant: Good.'],
      'the messages of a complete response',
    );
  }),
  the(
    'no text is kept from a response that is requested again in a shorter conversation [P8]',
    async (setup) => {
      const full = { kind: 'invalid', code: 'context_full', message: 'It is too long.' } as const;
      const agent = scriptedModel([textResponse('One.'), breaks(full, delta('Bad')), textResponse('Good.')]);
      const compact = () => ({ upTo: 1, summary: 'So far.' });
      const options = { agent, context: { maxTokens: 1_000_000, compact } };
      await setup.play(options, 'Go.', { sessionId: 'tale' });
      const { status, messages } = await setup.play(options, 'On.', { sessionId: 'tale' });
      expectEqual(status, 'complete', 'the status');
      expect(!outline(messages).join().includes('Bad'), 'no text of the first response');
    },
  ),
  the('reasoning and calls of a partial response are not sent', async (setup) => {
    const call = { id: 'a', toolName: 'one', arguments: {} };
    const agent = scriptedModel([
      begins(
        { type: 'reasoning', index: 0, text: 'Hm.' },
        delta('Let me ', 1),
        { type: 'text', index: 1, text: 'Let me see.' },
        { type: 'tool_call', index: 2, call },
        { type: 'tool_input_delta', index: 3, json: '{"a' },
      ),
    ]);
    const { messages } = await cancelMidway(setup, setup.run({ agent }));
    expectEqual(outline(messages).slice(1), partialMessages('Let me see.', cancelled), 'the messages');
    expectEqual(messages[1]?.content, [{ type: 'text', text: 'Let me see.' }], 'the parts');
    assertValidHistory(messages);
  }),
  the('a partial response without text leaves no message', async (setup) => {
    const thought: AgentEvent = { type: 'reasoning_delta', index: 0, text: 'Hm.' };
    const agent = scriptedModel([begins(thought, delta(' \n', 1))]);
    const { messages } = await cancelMidway(setup, setup.run({ agent }));
    expectEqual(outline(messages), ['user: Go.'], 'the messages');
  }),
  the('a steering message follows the partial response', async (setup) => {
    const run = setup.run({ agent: scriptedModel([begins(delta('Once'))]) });
    await setup.advance(100);
    run.steer('Faster.');
    const { messages } = await cancelMidway(setup, run);
    expectEqual(
      outline(messages).slice(1),
      [...partialMessages('Once', cancelled), 'user: Faster.'],
      'the messages',
    );
  }),
  the('a reader that starts in the middle of a response gets all of it once', async (setup) => {
    const end = Promise.withResolvers<void>();
    const agent = scriptedModel([
      async (_request, { emit }) => {
        for (const event of [delta('Bad'), retry, delta('One '), delta('two ')]) emit?.(event);
        await end.promise;
        emit?.(delta('three.'));
        return textResponse('One two three.');
      },
    ]);
    const run = setup.run({ agent });
    await setup.advance(100);
    const late = run[Symbol.asyncIterator]();
    end.resolve();
    const deltas: string[] = [];
    await setup.until(run);
    for await (const event of late) if (event.type === 'text_delta') deltas.push(event.text);
    expectEqual(deltas.join(''), 'One two three.', 'the text that the reader got');
    expectEqual(run.soFar, [], 'the text in progress at the end');
  }),
];
