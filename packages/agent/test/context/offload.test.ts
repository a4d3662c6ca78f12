import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OffloadOptions } from '../../src/context/offload.ts';
import { offload } from '../../src/context/offload.ts';
import type { Blobs } from '../../src/interfaces/blobs.ts';
import { memoryBlobs } from '../../src/interfaces/blobs.ts';
import { isToolOutput, toolOutput } from '../../src/interfaces/tool-output.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { ofType, resultsOf, resultTexts } from '../../src/testing/conversation.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { RunFixture } from '../../src/testing/run-fixture.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { defined } from '../../src/values/defined.ts';
import { systemRuntime } from '../../src/values/runtime.ts';
import { endsOf } from '../../src/values/truncate.ts';

const { digest } = systemRuntime;
const bytesOf = (text: string) => new TextEncoder().encode(text).length;

type Args = { readonly id: string; readonly offset?: number; readonly bytes?: number };

async function read(policy: ReturnType<typeof offload>, args: Args): Promise<string> {
  const value = await policy.tool.execute({ ...args }, undefined as never);
  return isToolOutput(value) ? `failed: ${String(value.content)}` : String(value);
}

/** Runs a tool that returns `value`, and returns its result as the model receives it. */
async function shown(
  value: unknown,
  options: { spilling?: OffloadOptions; blobs?: Blobs; maxOutputBytes?: number } = {},
) {
  const stage = new RunFixture(() => memoryStore());
  const policy = offload(options.blobs ?? memoryBlobs(), options.spilling);
  const given: ExecutorOptions = {
    agent: scriptedModel([calls(['one']), textResponse('Done.')]),
    tools: [
      probeTools().tool('one', {
        execute: () => value,
        ...defined({ maxOutputBytes: options.maxOutputBytes }),
      }),
    ],
    context: { offload: policy },
  };
  const run = stage.run(given);
  const result = await stage.until(run);
  await stage.check();
  const [event] = ofType(stage.storedOf(run), 'tool_result');
  return {
    text: resultTexts(result.messages)[0] ?? '',
    result: resultsOf(result.messages)[0],
    event,
    policy,
  };
}

describe('long tool output', () => {
  it('can be read to the end in parts, although it is too long for one result [P10]', async () => {
    const whole = Array.from({ length: 60_000 }, (_, line) => `${line} häuser 🏠\n`).join('');
    const { text, event, policy } = await shown(whole);
    expect(bytesOf(text)).toBeLessThanOrEqual(4096);
    expect(whole.startsWith(text.slice(0, 1000))).toBe(true);
    const id = event?.blobs?.[0]?.id ?? '';
    expect(event?.blobs).toEqual([{ id, bytes: bytesOf(whole) }]);
    let found = '';
    for (let more = true; more; ) {
      const answer = await read(policy, { id, offset: bytesOf(found), bytes: 32_768 });
      const end = answer.indexOf('\n');
      expect(bytesOf(answer)).toBeLessThan(33_000);
      more = answer.slice(0, end).includes('more follows');
      found += answer.slice(end + 1);
    }
    expect(found === whole).toBe(true);
  });

  it('names the offset at which to continue, where the excerpt is cut', async () => {
    const { text, policy } = await shown('x'.repeat(99_999));
    const args: Args = JSON.parse(/read_blob with (\{.*\}) …/.exec(text)?.[1] ?? '{}');
    expect(args.offset).toBe(text.indexOf('\n'));
    expect(await read(policy, args)).toMatch(new RegExp(`^\\(bytes ${args.offset} to `));
  });

  it('has the same id in every run with the same output', async () => {
    const [one, two] = [await shown('x'.repeat(50_000)), await shown('x'.repeat(50_000))];
    expect(one.text).toBe(two.text);
    expect((await shown('y'.repeat(50_000))).text).not.toBe(one.text);
  });

  it('is offloaded part by part, also from errors, while images stay', async () => {
    const long = { type: 'text', text: 'z'.repeat(20_000) } as const;
    const picture = { type: 'file', mediaType: 'image/png', data: 'AA==' } as const;
    const short = { type: 'text', text: 'short' } as const;
    const { result, event } = await shown(toolOutput({ content: [long, picture, short], isError: true }));
    expect(result?.content.slice(1)).toEqual([picture, short]);
    expect([result?.isError, event?.blobs?.length]).toEqual([true, 1]);
    expect(JSON.stringify(result?.content).length).toBeLessThan(5000);
  });

  it('is offloaded above the limit of its tool, if that is lower', async () => {
    const short = await shown('x'.repeat(1000), { maxOutputBytes: 1000 });
    expect([short.text.length, short.event?.blobs]).toEqual([1000, undefined]);
    const { text, event, policy } = await shown('x'.repeat(1001), { maxOutputBytes: 1000 });
    expect(bytesOf(text)).toBeLessThanOrEqual(1000);
    expect(event?.blobs).toMatchObject([{ bytes: 1001 }]);
    expect(await read(policy, { id: event?.blobs?.[0]?.id ?? '' })).toContain('x'.repeat(1001));
    // The limit is for all texts of one result together.
    const part = { type: 'text', text: 'y'.repeat(600) } as const;
    const two = await shown(toolOutput({ content: [part, part] }), { maxOutputBytes: 1000 });
    expect(bytesOf(two.text)).toBeLessThanOrEqual(1000);
    expect(two.event?.blobs).toHaveLength(2);
  });

  it('stays unchanged up to the limit, which `overBytes` can lower', async () => {
    const { text, event } = await shown('x'.repeat(16_384));
    expect([text.length, event?.blobs]).toEqual([16_384, undefined]);
    expect(
      (await shown('x'.repeat(100), { spilling: { overBytes: 99, excerptBytes: 50 } })).event?.blobs,
    ).toHaveLength(1);
  });
});

describe('read_blob', () => {
  it('is a `read` tool of the policy, and its output is not offloaded again [P10]', async () => {
    const stage = new RunFixture(() => memoryStore());
    const policy = offload(memoryBlobs(), { overBytes: 1000 });
    const { blob } = await policy.put('w'.repeat(9000), 500, stage.runtime.digest);
    const agent = scriptedModel([
      calls([{ name: 'read_blob', arguments: { id: blob.id, bytes: 5000 } }]),
      textResponse('Done.'),
    ]);
    const result = await stage.play({ agent, context: { offload: policy } });
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(['read_blob']);
    expect(resultTexts(result.messages)[0]).toContain('w'.repeat(5000));
    expect(policy.tool.effect).toBe('read');
    await stage.check();
  });

  it('reports an invalid id or offset', async () => {
    const policy = offload(memoryBlobs());
    expect(await read(policy, { id: 'none' })).toMatch(/^failed: There is no blob "none"/);
    const { blob } = await policy.put('short', 100, digest);
    expect(await read(policy, { id: blob.id, offset: 5 })).toMatch(/^failed: The blob has 5 bytes/);
  });

  it('returns complete characters from any offset', async () => {
    const policy = offload(memoryBlobs());
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
        fc.nat(120),
        fc.integer({ min: 4, max: 40 }),
        async (text, offset, bytes) => {
          const { blob } = await policy.put(text, 1000, digest);
          fc.pre(offset < blob.bytes);
          const answer = await read(policy, { id: blob.id, offset, bytes });
          const piece = answer.slice(answer.indexOf('\n') + 1);
          expect(piece).not.toContain('\ufffd');
          expect(text.toWellFormed()).toContain(piece);
        },
      ),
      { numRuns: 200, seed: 20_261_121 },
    );
  });
});

describe('memoryBlobs', () => {
  it('deletes the oldest blobs when it is full, never the newest', async () => {
    const blobs = memoryBlobs({ maxBytes: 10 });
    for (const id of ['a', 'b', 'c']) await blobs.put(id, new Uint8Array(5));
    const all = { start: 0, end: 99 };
    expect([await blobs.get('a', all), (await blobs.get('b', all))?.size]).toEqual([undefined, 5]);
    await blobs.put('d', new Uint8Array(50));
    expect([(await blobs.get('d', all))?.size, await blobs.get('c', all)]).toEqual([50, undefined]);
  });

  it('stores equal content once', async () => {
    const blobs = memoryBlobs({ maxBytes: 10 });
    await blobs.put('a', new Uint8Array(5));
    for (let count = 0; count < 9; count += 1) await blobs.put('b', new Uint8Array(5));
    expect((await blobs.get('a', { start: 0, end: 2 }))?.bytes).toEqual(new Uint8Array(2));
  });
});

describe('endsOf', () => {
  it('splits no character and returns no byte twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(200), (text, room) => {
        const whole = text.toWellFormed();
        const { head, tail, between } = endsOf(new TextEncoder().encode(whole), room);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(bytesOf(head) + between + bytesOf(tail)).toBe(bytesOf(whole));
      }),
    );
  });
});
