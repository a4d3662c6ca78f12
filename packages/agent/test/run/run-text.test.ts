import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentEvent } from '../../src/interfaces/agent.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import type { Run } from '../../src/run/run.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, modelResponse, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { AgentError } from '../../src/values/errors.ts';

const again: AgentEvent = {
  type: 'retry',
  attempt: 1,
  error: { kind: 'network', message: 'cut' },
  delayMs: 0,
};

/**
 * A response that is streamed: a string is a delta, and a promise is awaited. Its text is what follows the last retry.
 */
function streamed(...parts: readonly (string | AgentEvent | Promise<void>)[]): ModelStep {
  const last = parts.slice(parts.lastIndexOf(again) + 1);
  return async (_request, { emit }) => {
    for (const part of parts) {
      if (part instanceof Promise) await part;
      else emit?.(typeof part === 'string' ? { type: 'text_delta', index: 0, text: part } : part);
    }
    return textResponse(last.filter((part) => typeof part === 'string').join(''));
  };
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  effect: 'read',
  parameters: { where: z.string().default('here') },
  execute: () => 'seen',
});

function runOf(...script: readonly ModelStep[]): Run {
  return new Executor({ agent: scriptedModel(script), tools: [look] }).run('Go.');
}

/** Reads the text in chunks; `hasRead` resolves at the first one. */
async function chunksOf(run: Run, hasRead = () => {}): Promise<{ chunks: string[]; error?: AgentError }> {
  const chunks: string[] = [];
  try {
    for await (const chunk of run.text()) {
      chunks.push(chunk);
      hasRead();
    }
  } catch (thrown) {
    return { chunks, error: AgentError.from(thrown) };
  }
  return { chunks };
}

describe('the text of a run', () => {
  it('arrives in chunks that together are the whole text', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = runOf(streamed('Shoes ', promise, 'are ', 'done.'));
    const { chunks } = await chunksOf(run, resolve);
    expect(chunks[0]).toBe('Shoes ');
    expect([chunks.join(''), await run.text()]).toEqual(['Shoes are done.', 'Shoes are done.']);
  });

  it('contains all responses, with an empty line between two that have text', async () => {
    const first = modelResponse([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_call', id: 'a', toolName: 'look', arguments: {} },
    ]);
    const run = runOf(first, calls(['look']), streamed('It is ', 'there.'));
    const whole = 'Let me look.\n\nIt is there.';
    expect([(await chunksOf(run)).chunks.join(''), await run.text()]).toEqual([whole, whole]);
  });

  it('can be read after the run has ended, and more than once', async () => {
    const run = runOf(streamed('Shoes ', 'are done.'));
    await run;
    expect((await chunksOf(run)).chunks).toEqual(['Shoes are done.']);
    expect((await chunksOf(run)).chunks).toEqual(['Shoes are done.']);
  });

  it('loses nothing to a slow reader', async () => {
    const words = Array.from({ length: 25_000 }, (_, index) => `${index} `);
    const run = runOf(streamed(...words));
    let text = '';
    for await (const chunk of run.text()) {
      if (text === '') await run;
      text += chunk;
    }
    expect(text).toBe(words.join(''));
  });

  it('does not stop the run if reading stops early', async () => {
    const run = runOf(streamed('One ', 'two ', 'three.'));
    for await (const _chunk of run.text()) break;
    expect((await run).text).toBe('One two three.');
  });
});

describe('a response that is requested again', () => {
  it('continues where the text stopped: nothing is repeated [P8]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = runOf(streamed('Shoes are ', promise, again, 'Shoes', ' are d', 'one.'));
    const { chunks, error } = await chunksOf(run, resolve);
    expect([chunks[0], chunks.join(''), error]).toEqual(['Shoes are ', 'Shoes are done.', undefined]);
  });

  it('continues even after several attempts of different length [P8]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = runOf(streamed('Shoes are ', promise, again, 'Sho', again, 'Shoes are done', '.'));
    expect((await chunksOf(run, resolve)).chunks.join('')).toBe('Shoes are done.');
  });

  it.each([
    ['a different text', ['Boots are done.']],
    ['a text that differs later', ['Shoes ', 'were done.']],
    ['a shorter text', ['Shoes']],
  ])('fails the reader for %s, but the awaited text is correct [P8]', async (_what, second) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const run = runOf(streamed('Shoes are ', promise, again, ...second));
    const { chunks, error } = await chunksOf(run, resolve);
    expect(chunks).toEqual(['Shoes are ']);
    expect([error?.kind, error?.code]).toEqual(['agent', 'text_discarded']);
    expect(await run.text()).toBe(second.join(''));
    expect((await run).status).toBe('complete');
  });

  it('starts again if the reader got nothing of the first attempt [P8]', async () => {
    const run = runOf(streamed('Shoes are ', again, 'Boots are done.'));
    await run;
    expect((await chunksOf(run)).chunks).toEqual(['Boots are done.']);
    const second = runOf(streamed('Shoes are ', again, 'Boots ', 'are done.'));
    expect((await chunksOf(second)).chunks.join('')).toBe('Boots are done.');
  });
});

describe('a reader that is slower than the model', () => {
  it('does not get the text of a failed attempt that it has not read yet [P8]', async () => {
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const parts = ['Shoes ', first.promise, 'are ', again, 'Shoes ', 'were ', second.promise, 'done.'];
    const chunks: string[] = [];
    for await (const chunk of runOf(streamed(...parts)).text()) {
      chunks.push(chunk);
      if (chunks.length === 2) second.resolve();
      if (chunks.length > 1) continue;
      first.resolve();
      // Everything up to the second promise is received now.
      for (let turn = 0; turn < 50; turn += 1) await undefined;
    }
    expect(chunks).toEqual(['Shoes ', 'were ', 'done.']);
  });
});

describe('a run that does not complete', () => {
  it('throws its error after the text that arrived [P1]', async () => {
    const failure = new AgentError({ kind: 'network', message: 'The line is dead.' });
    const { promise, resolve } = Promise.withResolvers<void>();
    const failing: ModelStep = async (_request, { emit }) => {
      emit?.({ type: 'text_delta', index: 0, text: 'Shoes are ' });
      await promise;
      throw failure;
    };
    const run = runOf(failing);
    const { chunks, error } = await chunksOf(run, resolve);
    expect([chunks.join(''), error?.message]).toEqual(['Shoes are ', 'The line is dead.']);
    await expect(run.text()).rejects.toMatchObject({ kind: 'network' });
  });

  it('throws for a response that was cut at its maximum length [P1]', async () => {
    const run = runOf(textResponse('Shoes are', { stop: 'max_tokens' }));
    const { chunks, error } = await chunksOf(run);
    expect([chunks.join(''), error?.code]).toEqual(['Shoes are', 'max_tokens']);
    await expect(run.text()).rejects.toMatchObject({ code: 'max_tokens' });
  });
});
