import { describe, expect, it } from 'vitest';
import { offload } from '../../src/context/offload.ts';
import type { RunEvent } from '../../src/events/event.ts';
import { memoryBlobs } from '../../src/interfaces/blobs.ts';
import { toolOutput } from '../../src/interfaces/tool-output.ts';
import { Executor } from '../../src/loop/executor.ts';
import { maxFileBytes } from '../../src/loop/tool-run.ts';
import { maxWatchers } from '../../src/run/feed.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';

import { fakeRuntime, scriptedAgent } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { AgentError } from '../../src/values/errors.ts';
import { textOf } from '../../src/values/message.ts';
import { maxDeclarationBytes, maxOutputBytes, maxPromptBytes } from '../../src/values/sizes.ts';

function executor(options: Partial<ExecutorOptions> = {}) {
  return new Executor({
    agent: scriptedAgent(['Hello.', 'Hello again.']),
    runtime: fakeRuntime(),
    ...options,
  });
}

/** Returns the error that a function throws. */
function errorOf(work: () => unknown): AgentError | undefined {
  try {
    work();
  } catch (thrown) {
    if (AgentError.is(thrown)) return thrown;
  }
  return undefined;
}

describe('a run', () => {
  it('has at most 1,000 readers and listeners at the same time [P29]', async () => {
    const run = executor().run('Go.');
    const stops = Array.from({ length: maxWatchers - 1 }, () => run.subscribe(() => {}));
    const reader = run[Symbol.asyncIterator]();
    const message = 'The run already has the maximum of 1000 readers and listeners. Stop one of them first.';
    for (const watch of [() => run.subscribe(() => {}), () => run[Symbol.asyncIterator]()])
      expect(errorOf(watch)).toMatchObject({ kind: 'invalid', code: 'too_many_watchers', message });
    stops[0]?.();
    stops.push(run.subscribe(() => {}));
    await reader.return?.();
    run[Symbol.asyncIterator]();
    expect((await run).status).toBe('complete');
  });

  it('rejects a prompt or steering message of more than 64 MiB [P29]', async () => {
    const large = 'x'.repeat(maxPromptBytes);
    const part = { type: 'text', text: large } as const;
    const wanted = { kind: 'invalid', code: 'prompt_too_large' };
    for (const prompt of [large, [part], [{ role: 'user', content: large }] as const]) {
      const error = errorOf(() => executor().run(prompt));
      expect(error).toMatchObject(wanted);
      expect(error?.message).toMatch(
        /^The prompt is 671\d{5} bytes long, but the maximum is 67108864\. Send less in one prompt\.$/,
      );
    }
    const run = executor().run('x'.repeat(maxPromptBytes - 1000));
    expect(errorOf(() => run.steer(large))).toMatchObject(wanted);
    expect(errorOf(() => run.steer([part]))).toMatchObject(wanted);
    expect((await run).status).toBe('complete');
  });

  it('rejects tools whose declarations have more than 4 MiB, and names the largest [P29]', async () => {
    const { tool } = probeTools();
    const parameters = { type: 'object' } as const;
    const small = tool('small', { description: 'x'.repeat(1000), parameters });
    const rest =
      maxDeclarationBytes - 1000 - 'small'.length - 'large'.length - 2 * JSON.stringify(parameters).length;
    const large = (more: number) => tool('large', { description: 'x'.repeat(rest + more), parameters });
    expect((await executor({ tools: [small, large(0)] }).run('Go.')).status).toBe('complete');
    const error = errorOf(() => executor({ tools: [small, large(1)] }));
    expect(error).toMatchObject({ kind: 'invalid', code: 'tools_too_large' });
    expect(error?.message).toMatch(
      /^The tool declarations total 4194305 bytes, but the maximum is 4194304\. The largest is large, at 4193283 bytes\./,
    );
  });

  it('rejects files of more than 32 MiB in a result: the model sees an error [P10, P29]', async () => {
    const file = { type: 'file', mediaType: 'image/png', data: 'A'.repeat(maxFileBytes / 2) } as const;
    const results: string[] = [];
    for (const content of [[file], [file, file]]) {
      const { tool } = probeTools();
      const agent = scriptedAgent([{ calls: [{ name: 'draw', arguments: {} }] }, 'I see.']);
      const tools = [tool('draw', { execute: () => toolOutput({ content }) })];
      const { status, messages } = await executor({ agent, tools }).run('Go.');
      const result = messages.find(({ role }) => role === 'tool_result');
      results.push(`${status}: ${result === undefined ? '' : textOf(result)}`);
    }
    expect(results[0]).toBe('complete: ');
    expect(results[1]).toMatch(
      /^complete: The tool returned a value that cannot be written as JSON: it contains files totaling 335\d{5} bytes, but the maximum is 33554432$/,
    );
  });

  it('cuts a summary to 256 KiB, and marks the cut [P29]', async () => {
    const compact = () => ({ upTo: 1, summary: 'x'.repeat(2 * maxOutputBytes) });
    const run = executor({ context: { maxTokens: 1, compact } }).run([
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Three.' },
    ]);
    const { messages } = await run;
    const [first] = messages;
    const text = first === undefined ? '' : textOf(first);
    expect(text).toMatch(/… 262\d{3} bytes omitted …/);
    expect(text.length).toBeLessThan(maxOutputBytes + 1000);
  });

  it('offloads at most 16 MiB of a text, and marks the cut [P29]', async () => {
    const { tool } = probeTools();
    const agent = scriptedAgent([{ calls: [{ name: 'long', arguments: {} }] }, 'I see.']);
    const tools = [tool('long', { execute: () => 'x'.repeat(20_000_000) })];
    const blobs = memoryBlobs();
    const sizes: number[] = [];
    const onEvent = (event: RunEvent) => {
      if (event.type === 'tool_result') sizes.push(...(event.blobs ?? []).map(({ bytes }) => bytes));
    };
    const context = { offload: offload(blobs) };
    expect((await executor({ agent, tools, context }).run('Go.', { onEvent })).status).toBe('complete');
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(sizes[0]).toBeGreaterThan(16 * 1024 * 1024 - 1000);
  });
});
