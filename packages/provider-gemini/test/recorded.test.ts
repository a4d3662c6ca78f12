import { readFileSync } from 'node:fs';
import { callsOf } from '@cobbler/agent';
import { expect, test } from 'vitest';
import { chunk, done, hello, resultOf, served, stream, tool } from './service.ts';

/** Responses in the form captured in github.com/junjihashimoto/louter, test-data/gemini; the signature is shorter. */
const recorded = (name: string) => readFileSync(new URL(`fixtures/${name}.sse`, import.meta.url), 'utf8');

test('reads a recorded text, with the counts of its last chunk [S0.8]', async () => {
  const { agent } = served([stream(recorded('text'))]);
  const { content, usage, model, stopReason } = await agent.run({ messages: [hello], tools: [] });
  expect(content).toBe('今日の東京の天気は曇りで、気温は22度です。\n');
  expect([model, stopReason]).toEqual(['gemini-2.5-flash', 'complete']);
  expect(usage).toMatchObject({ inputTokens: 138, outputTokens: 15 });
});

test('reads a recorded call without an id, and sends its signature back [S0.16, P27]', async () => {
  const { agent, sent } = served([stream(recorded('call')), done]);
  const { message, toolCalls, stopReason, usage } = await agent.run({ messages: [hello], tools: [tool] });
  expect(toolCalls).toEqual([{ id: 'call_1', toolName: 'getWeather', arguments: { location: 'Tokyo' } }]);
  expect(stopReason).toBe('tool_use');
  // The thoughts are output that the count of the candidates does not include.
  expect(usage).toMatchObject({ inputTokens: 83, outputTokens: 118, reasoningTokens: 104 });
  await agent.run({ messages: [hello, message, resultOf('call_1')], tools: [tool] });
  expect(sent(1).contents.slice(1)).toEqual([
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'call_1', name: 'getWeather', args: { location: 'Tokyo' } },
          thoughtSignature: 'CikBcsjafFK168IbtVtoxVV0Tsn8O+eU45rzJahzwuKGmMbdMdfpmNpgBw==',
        },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'call_1', name: 'getWeather', response: { output: 'Sunny.' } } }],
    },
  ]);
});

test('sends back parallel calls with the signature on the first only, as the documentation shows', async () => {
  // ai.google.dev/gemini-api/docs/thought-signatures, "Parallel function calls"
  const parts = [
    {
      functionCall: { id: 'a', name: 'getWeather', args: { location: 'Paris' } },
      thoughtSignature: 'U2lnbmF0dXJlX0E=',
    },
    { functionCall: { id: 'b', name: 'getWeather', args: { location: 'London' } } },
  ];
  const { agent, sent } = served([stream(chunk(parts, 'STOP')), done]);
  const { message } = await agent.run({ messages: [hello], tools: [tool] });
  const results = callsOf(message).map(({ id }) => resultOf(id));
  await agent.run({ messages: [hello, message, ...results], tools: [tool] });
  expect(sent(1).contents[1]?.parts).toEqual(parts);
});

test('sends the signature of a text back on its own part, also on an empty one [P12]', async () => {
  const thought = { text: 'Hm.', thought: true, thoughtSignature: 'VA==' };
  const signed = { text: ' World.', thoughtSignature: 'Vw==' };
  const empty = { text: '', thoughtSignature: 'RQ==' };
  const { agent, sent } = served([
    stream(
      chunk([thought]),
      chunk([{ text: 'Hel' }]),
      chunk([{ text: 'lo.' }]),
      chunk([signed]),
      chunk([empty], 'STOP'),
    ),
    done,
  ]);
  const { message, content } = await agent.run({ messages: [hello], tools: [] });
  expect(content).toBe('Hello. World.');
  await agent.run({ messages: [hello, message, hello], tools: [] });
  expect(sent(1).contents[1]?.parts).toEqual([thought, { text: 'Hello.' }, signed, empty]);
});
