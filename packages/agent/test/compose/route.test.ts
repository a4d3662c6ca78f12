import { describe, expect, it } from 'vitest';
import { summarize } from '../../src/context/index.ts';
import type { Agent, ModelRequest } from '../../src/interfaces/agent.ts';
import { fallback, route } from '../../src/run/compose/index.ts';
import { calls, textResponse } from '../../src/testing/scripted-model.ts';
import { AgentError } from '../../src/values/errors.ts';
import { userMessage } from '../../src/values/message.ts';
import { busy, fails, member, tokens, triedIn } from './members.ts';

const hello = { messages: [userMessage('Hello.')], tools: [] };
const bad = expect.objectContaining({ kind: 'invalid', code: 'bad_option' });

const pair = () => ({
  small: member('small', ['From the small.'], { contextTokens: 100 }),
  large: member('large', ['From the large.'], { contextTokens: 500 }),
});

/** Returns the text of the response to a request. */
async function textFrom(agent: Agent, request: ModelRequest = hello): Promise<string> {
  return (await agent.run(request)).content;
}

describe('a route', () => {
  it('chooses by the estimated size of the input', async () => {
    const agent = route(pair(), ({ inputTokens }) => (inputTokens > 1_000 ? 'large' : 'small'));
    expect(await textFrom(agent)).toBe('From the small.');
    expect(await textFrom(agent, { ...hello, system: 'x'.repeat(6_000) })).toBe('From the large.');
  });

  it('chooses by turn', async () => {
    const agent = route(pair(), ({ turn }) => (turn === 2 ? 'small' : 'large'));
    const result = { role: 'tool_result', toolCallId: 'look_0', content: [] } as const;
    const second = [userMessage('Hello.'), calls(['look']).message, result, userMessage('More.')];
    expect(await textFrom(agent)).toBe('From the large.');
    expect(await textFrom(agent, { ...hello, messages: second })).toBe('From the small.');
  });

  it('recognizes the summary of a compaction', async () => {
    const agent = route(pair(), ({ config }) => (config?.purpose === 'summary' ? 'small' : 'large'));
    const messages = Array.from({ length: 9 }, (_, at) => userMessage(`Message ${at}.`));
    const made = await summarize()(messages, {
      agent,
      signal: new AbortController().signal,
      ask: (request) => agent.run(request),
    });
    expect(made?.summary).toBe('From the small.');
  });

  it('names the model that responded, unless it is its own', async () => {
    const agent = route(pair(), ({ turn }) => (turn === 1 ? 'large' : 'small'));
    expect([agent.provider, agent.model]).toEqual(['small', 'small-1']);
    expect((await agent.run(hello)).servedBy).toEqual({ provider: 'large', model: 'large-1' });
    const own = textResponse('Hello.');
    const other = route({ first: member('first', [own]), ...pair() }, () => 'first');
    expect(await other.run(hello)).toBe(own);
  });

  it('names the model that failed, with its tokens', async () => {
    const large = member('large', [fails({ ...busy, wasted: tokens(3) })]);
    const error = await route({ ...pair(), large }, () => 'large')
      .run(hello)
      .catch(AgentError.from);
    expect(error).toMatchObject({ code: 'busy', attempts: 4, wasted: tokens(3) });
    expect(triedIn(error)).toEqual(['large: busy']);
  });

  it('can contain a fallback, whose models it names', async () => {
    const inner = fallback([member('first', [fails(busy)]), member('second', ['Hello.'])]);
    const agent = route({ ...pair(), inner }, () => 'inner');
    const response = await agent.run(hello);
    expect(response.servedBy).toEqual({ provider: 'second', model: 'second-1' });
    expect(triedIn(response)).toEqual(['first: busy']);
    expect(agent.candidates?.map(({ provider }) => provider)).toEqual(['small', 'large', 'first', 'second']);
  });

  it('declares the smallest window, or the one that is given', () => {
    const options = { contextTokens: 500 };
    expect(route(pair(), () => 'small').capabilities.contextTokens).toBe(100);
    expect(route(pair(), () => 'small', options).capabilities.contextTokens).toBe(500);
  });

  it('fails as invalid if the function throws or returns an unknown name', async () => {
    const throwing = route(pair(), () => {
      throw new Error('No idea.');
    });
    await expect(throwing.run(hello)).rejects.toThrow('No idea.');
    await expect(throwing.run(hello)).rejects.toEqual(bad);
    const unknown = route(pair(), () => 'medium' as 'small');
    await expect(unknown.run(hello)).rejects.toThrow('choose() is invalid: it is "medium"');
  });

  it('rejects what is not an object of agents and a function', () => {
    expect(() => route({}, () => '' as never)).toThrow(bad);
    expect(() => route({ first: 1 as never }, () => 'first')).toThrow(bad);
    expect(() => route(pair(), 'small' as never)).toThrow(bad);
  });
});
