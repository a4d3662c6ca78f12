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
import type { ExecutorCase } from './setup/cases.ts';
import { group } from './setup/cases.ts';

const the = group('answers that end too early');

const delta = (text: string, index = 0): AgentEvent => ({ type: 'text_delta', index, text });
const cut = { kind: 'network', code: 'cut', message: 'The connection was cut.' } as const;
const retry: AgentEvent = { type: 'retry', attempt: 1, error: cut, delayMs: 5 };

/** An answer of which this is shown, and no more comes. */
function begins(...shown: readonly AgentEvent[]): ModelStep {
  return (_request, { emit }) => {
    for (const event of shown) emit?.(event);
    return new Promise(() => {});
  };
}

/** The same, and then the request fails. */
function breaks(error: ConstructorParameters<typeof AgentError>[0], ...shown: AgentEvent[]): ModelStep {
  return (_request, { emit }) => {
    for (const event of shown) emit?.(event);
    throw new AgentError(error);
  };
}

/** Lets an answer begin, and stops the run in the middle of it. */
async function stopped(stage: RunFixture, run: Run): Promise<RunResult> {
  await stage.advance(100);
  run.cancel();
  const result = await stage.until(run);
  expectEqual(result.status, 'cancelled', 'the status');
  return result;
}

const told = (messages: readonly Message[]) => messages.map((one) => `${one.role}: ${textOf(one)}`);

/** What the conversation holds of an answer that ended too early. */
function ended(text: string, why: string): string[] {
  return [`assistant: ${text}`, `user: Your last answer ended here, before it was complete: ${why}.`];
}

const cancelled = 'the work was cancelled';

export const partialCases: readonly ExecutorCase[] = [
  the('what was said before a cancel is in the log, and the model reads it', async (stage) => {
    const agent = scriptedModel([begins(delta('Once '), delta('upon a')), textResponse('On.')]);
    const run = stage.run({ agent }, 'Tell.', { sessionId: 'tale' });
    const { messages, text } = await stopped(stage, run);
    const [failed] = ofType(stage.storedOf(run), 'ask_failed');
    expectEqual(failed?.partial, [{ type: 'text', text: 'Once upon a' }], 'what the log holds');
    expectEqual(told(messages), ['user: Tell.', ...ended('Once upon a', cancelled)], 'the messages');
    assertValidHistory(messages);
    expectEqual(text, '', 'the text of a complete answer');
    await stage.play({ agent }, 'Go on.', { sessionId: 'tale' });
    const sent = told(agent.requests[1]?.messages ?? []);
    expectEqual(sent, ['user: Tell.', ...ended('Once upon a', cancelled), 'user: Go on.'], 'what is sent');
  }),
  the('what was said before the time was up is kept', async (stage) => {
    const agent = scriptedModel([begins(delta('Once'))]);
    const { status, messages } = await stage.play({ agent, limits: { ms: 1000 } });
    expectEqual(status, 'timeout', 'the status');
    expectEqual(told(messages).slice(1), ended('Once', 'the time limit was reached'), 'the messages');
  }),
  the(
    'what was said before the request failed for good is kept, and a resumed run continues it',
    async (stage) => {
      const agent = scriptedModel([breaks(cut, delta('Once')), textResponse('On.')]);
      const failed = await stage.play({ agent }, 'Tell.', { sessionId: 'tale' });
      expectEqual([failed.status, failed.error?.code], ['failed', 'cut'], 'the end');
      const resumed = await stage.until(stage.resume({ agent }, 'tale'));
      const why = 'the connection to the model failed';
      expectEqual(told(agent.requests[1]?.messages ?? []).slice(1), ended('Once', why), 'what is sent');
      expectEqual([resumed.status, resumed.text], ['complete', 'On.'], 'the end of the resumed run');
    },
  ),
  the('nothing is kept of an attempt that was tried again [P8]', async (stage) => {
    const shown = [delta('Bad'), retry, delta('Good')];
    const { messages } = await stopped(stage, stage.run({ agent: scriptedModel([begins(...shown)]) }));
    expectEqual(told(messages).slice(1), ended('Good', cancelled), 'the messages');
    const answered: ModelStep = (_request, { emit }) => {
      for (const event of shown) emit?.(event);
      return textResponse('Good.');
    };
    const whole = await stage.play({ agent: scriptedModel([answered]) });
    expectEqual(told(whole.messages), ['user: Go.', 'assistant: Good.'], 'the messages of a whole answer');
  }),
  the(
    'nothing is kept of an answer that is asked for again in a smaller conversation [P8]',
    async (stage) => {
      const full = { kind: 'invalid', code: 'context_full', message: 'It is too long.' } as const;
      const agent = scriptedModel([textResponse('One.'), breaks(full, delta('Bad')), textResponse('Good.')]);
      const compact = () => ({ upTo: 1, summary: 'So far.' });
      const options = { agent, context: { maxTokens: 1_000_000, compact } };
      await stage.play(options, 'Go.', { sessionId: 'tale' });
      const { status, messages } = await stage.play(options, 'On.', { sessionId: 'tale' });
      expectEqual(status, 'complete', 'the status');
      expect(!told(messages).join().includes('Bad'), 'nothing of the first answer');
    },
  ),
  the('reasoning and calls of an answer that ended too early are not sent', async (stage) => {
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
    const { messages } = await stopped(stage, stage.run({ agent }));
    expectEqual(told(messages).slice(1), ended('Let me see.', cancelled), 'the messages');
    expectEqual(messages[1]?.content, [{ type: 'text', text: 'Let me see.' }], 'the parts');
    assertValidHistory(messages);
  }),
  the('an answer without text leaves nothing', async (stage) => {
    const thought: AgentEvent = { type: 'reasoning_delta', index: 0, text: 'Hm.' };
    const agent = scriptedModel([begins(thought, delta(' \n', 1))]);
    const { messages } = await stopped(stage, stage.run({ agent }));
    expectEqual(told(messages), ['user: Go.'], 'the messages');
  }),
  the('what was steered comes after what was said', async (stage) => {
    const run = stage.run({ agent: scriptedModel([begins(delta('Once'))]) });
    await stage.advance(100);
    run.steer('Faster.');
    const { messages } = await stopped(stage, run);
    expectEqual(told(messages).slice(1), [...ended('Once', cancelled), 'user: Faster.'], 'the messages');
  }),
  the('a reader that comes in the middle of an answer gets all of it once', async (stage) => {
    const end = Promise.withResolvers<void>();
    const agent = scriptedModel([
      async (_request, { emit }) => {
        for (const event of [delta('Bad'), retry, delta('One '), delta('two ')]) emit?.(event);
        await end.promise;
        emit?.(delta('three.'));
        return textResponse('One two three.');
      },
    ]);
    const run = stage.run({ agent });
    await stage.advance(100);
    const late = run[Symbol.asyncIterator]();
    end.resolve();
    const deltas: string[] = [];
    await stage.until(run);
    for await (const event of late) if (event.type === 'text_delta') deltas.push(event.text);
    expectEqual(deltas.join(''), 'One two three.', 'what it shows');
    expectEqual(run.soFar, [], 'what is under way at the end');
  }),
];
